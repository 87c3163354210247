/*
 * ceiling.h: what this machine can do at most, measured with the threads that the versions get: the rates that turn an
 * algorithm's cost into a time that no version can go far below.
 */
#ifndef RUNGS_CEILING_H
#define RUNGS_CEILING_H

#include <stddef.h>

#include "common/contract/algorithm.h"
#include "common/core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a CPU or of a GPU. */
struct ceilings {
    double copy_bytes_per_second;                  /* read + write counted; 0 = not measured */
    double operations_per_second[OPERATION_COUNT]; /* 0 = not measured */
    const char *measured_by[OPERATION_COUNT];      /* the instruction: "AVX-512 vpdpbusd"; a literal */
};

/* Measures copies and those operations that the cost counts, in the calling process (from a child: it starts an OpenMP
 * team). `from` and `to` are the bytes that one call of the algorithm reads and writes, `sets` how many such pairs the
 * bench rotates through: the copies go through as many pairs of buffers of (from + to) / 2 bytes, so they meet the same
 * caches as the versions do. Copies with memcpy and, on x86, with streaming stores, by all threads and by one, and
 * keeps the best; of repeated samples the fastest tenth counts, for a ceiling must hold when no neighbour takes the
 * cores. Takes about `seconds`, and more where buffers are large. */
enum status ceilings_measure(size_t from, size_t to, int sets, int threads, double seconds, const struct cost *cost,
                             struct ceilings *ceilings);

/* Operations per second of one kind, of all threads together; 0 when the kind has no ceiling (OPERATION_OTHER). *by
 * gets the instruction. In ceiling_operations.c. */
double ceiling_operation_rate(enum operation operation, int threads, double seconds, const char **by);

#ifdef __cplusplus
}
#endif
#endif
