/*
 * strongest.h: from the response to the table of corners on the device, where the largest response is known: what the
 * rungs of harris share from v2.3 on.
 */
#ifndef RUNGS_HARRIS_STEPS_STRONGEST_H
#define RUNGS_HARRIS_STEPS_STRONGEST_H

#include "cuda/harris/shared/corners.h"

enum { STRONGEST_BINS = 1024 };

/* On the device, zeros before the response is computed; a kernel leaves the largest by atomicMax() on its bits. */
struct strongest_found {
    struct corners_found peaks;
    unsigned chosen;               /* keys that can be among the strongest */
    unsigned bins[STRONGEST_BINS]; /* peaks by strength */
};

struct strongest_step {
    struct corners_step corners; /* whose `found` is not used */
    struct strongest_found *found;
    uint64_t *chosen;
};

enum status strongest_setup(struct strongest_step *step, const struct image *in, const struct harris_params *params);
/* The table, of the response and found->peaks.largest. Nothing with outputs=response. */
enum status strongest_launch(struct strongest_step *step, const struct image out[], const struct harris_params *params,
                             cudaStream_t stream);
void strongest_teardown(struct strongest_step *step);

#endif
