/*
 * stream_copy.h: a copy that goes past the caches, for memory that the device reads or wrote.
 */
#ifndef RUNGS_STREAM_COPY_H
#define RUNGS_STREAM_COPY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `rows` rows of `bytes` bytes, which begin `to_stride` and `from_stride` bytes apart (`bytes` or more), by
 * streaming stores where the machine has them: an ordinary store first reads the line that it writes into the cache.
 * What lies between the rows is left alone. Other threads and the device may read `to` when this has returned. */
void stream_copy(void *to, size_t to_stride, const void *from, size_t from_stride, size_t bytes, int rows);

#ifdef __cplusplus
}
#endif

#endif
