/*
 * bench_device.h: the bench's side of a GPU: what device it is, what it can do at most, and how long a version's
 * launch() takes. For C files; bench_device.cu implements it. In an emulated build every call but bench_device_facts()
 * is STATUS_UNSUPPORTED: an emulated time says nothing about a GPU. All of them start the CUDA runtime, so they are
 * to be called in a child process (process.h).
 */
#ifndef RUNGS_BENCH_DEVICE_H
#define RUNGS_BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/contract/registry.h"
#include "common/core/status.h"
#include "common/measure/ceiling.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device_facts {
    char name[128];
    int capability; /* 90 = 9.0 */
    int multiprocessors;
    int runtime_version; /* 13000 = CUDA 13.0 */
    size_t l2, memory;   /* bytes */
    char why[256];       /* on failure: why there is no device */
};

/* Of the current device. STATUS_UNSUPPORTED without one. */
enum status bench_device_facts(struct device_facts *facts);

/* What the first calls of a process pay for, in the order in which they are made, in seconds: the context (with
 * modules, where they are not loaded when they are needed: CUDA_MODULE_LOADING=EAGER), the first cudaMalloc(), of 1
 * MiB, and the first launch, of a kernel that does nothing. */
struct device_start {
    double context, allocation, launch;
};
enum status bench_device_start(struct device_start *start);

/* Makes the host memory of an image page-locked. On failure it stays as it was. */
enum status bench_device_pin(const struct image *image);
void bench_device_unpin(const struct image *image);

/* Copy: 1 GiB (or a quarter of the free memory) to another place, by cudaMemcpyAsync and by a kernel that moves 16
 * bytes a thread; the better median of 10. Operations that the cost counts: independent chains, 8 per thread, enough
 * blocks to fill every multiprocessor, without tensor cores; the median of 10. Nothing is read from a datasheet. In
 * device_ceiling.cu. */
enum status bench_device_ceilings(const struct cost *cost, struct ceilings *ceilings);

/* One timing of a version's launch(). */
struct device_timing {
    bool once; /* one launch, for a version so slow that more would take minutes; results[0] alone is filled */
    const struct version *version;
    const struct image (*in)[ALGORITHM_MAX_INPUTS]; /* host images, `sets` of them */
    int sets;                                       /* at least 2, with different content */
    const struct image *out_shapes;                 /* of the algorithm's outputs; width 0: absent */
    const void *params;
    double seconds;  /* budget; it ends earlier when the median is stable */
    double *samples; /* seconds per launch, room for `capacity` */
    size_t capacity;

    size_t count; /* out: samples written */
    bool graph;   /* out: timed as replays of a CUDA graph */
    int batch;    /* out: launches per sample */
    /* Host images of out_shapes, filled in: what the last timed launches on sets 0 and 1 left in device memory, and
     * what one more launch gives at set 0's addresses when they hold set 1's input. */
    struct image results[3][ALGORITHM_MAX_OUTPUTS];
};

/* Calls setup() once, then launches in batches of at least 1 ms between two events; a sample is a batch's time divided
 * by its launches. The batch is one CUDA graph, captured from the stream and replayed, so that a kernel of a few
 * microseconds is not timed by how fast the host enqueues; where launch() cannot be captured, plain launches on the
 * stream take its place. Launch i works on device buffers i mod n, where all n inputs and outputs together are at least
 * twice the L2 cache, so that inputs come from device memory, as they would in real use. Outputs are poisoned before.
 */
enum status bench_device_time(struct device_timing *timing, void *state);

#ifdef __cplusplus
}
#endif
#endif
