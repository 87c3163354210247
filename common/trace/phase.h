/*
 * phase.h: which part of a CUDA version's host entry is running: allocate, upload, kernel, download, free.
 *
 * A host entry marks its kernel phase; the functions of device.h mark the others. Outside a recording a mark costs two
 * tests. Inside one (`rungs diff`) every mark waits for the device, so that each phase owns its own time:
 * good for explaining, wrong for benchmarking, which is why the bench never records. Each mark is also a range of
 * mark.h, for profilers, which waits for nothing.
 */
#ifndef RUNGS_PHASE_H
#define RUNGS_PHASE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum phase { PHASE_OTHER, PHASE_ALLOCATE, PHASE_UPLOAD, PHASE_KERNEL, PHASE_DOWNLOAD, PHASE_FREE, PHASE_COUNT };

struct phase_record {
    double seconds[PHASE_COUNT];
    size_t bytes[PHASE_COUNT]; /* allocated, uploaded, downloaded */
    int calls[PHASE_COUNT];    /* times the phase was entered */
};

/* "allocate", "upload", ... */
const char *phase_name(enum phase phase);

/* From here on the calling thread is in `phase`, which handles `bytes` bytes (0 where that means nothing). */
void phase_begin(enum phase phase, size_t bytes);

/* Counts a call in `phase` that handles `bytes` bytes and goes on: for what the device does later, beside other things,
 * so that its time belongs to no phase. */
void phase_count(enum phase phase, size_t bytes);

/* Waits until the device has done all it was given; called at every mark of a recording. device.cu sets it, so that
 * this file needs no CUDA; NULL (no CUDA in the build) waits for nothing. */
extern void (*phase_synchronize)(void);

/* Records all phases of the calling thread into *record (zeroed first) until phase_record_stop(). */
void phase_record_start(struct phase_record *record);
void phase_record_stop(void);

#ifdef __cplusplus
}
#endif
#endif
