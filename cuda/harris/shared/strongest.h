/*
 * strongest.h: from the response to the table of corners on the device, where the largest response is known: what the rungs
 * of harris from v2.6 on share.
 */
#ifndef RUNGS_HARRIS_STEPS_STRONGEST_H
#define RUNGS_HARRIS_STEPS_STRONGEST_H

#include "cuda/harris/shared/corners.h"

enum { STRONGEST_BINS = 2048 };

/* On the device. What corners.cu knows, and the peaks above the threshold by strength. */
struct strongest_found {
    struct corners_found peaks;
    unsigned chosen; /* keys that can be among the strongest */
    unsigned bins[STRONGEST_BINS];
};

struct strongest_step {
    struct corners_step corners; /* whose `found` is not used */
    struct strongest_found *found;
    uint64_t *chosen;
};

enum status strongest_setup(struct strongest_step *step, const struct image *in, const struct harris_params *params);
/* Before the response: nothing is known. Nothing with outputs=response. */
enum status strongest_begin(struct strongest_step *step, const struct harris_params *params, cudaStream_t stream);
/* Where a kernel leaves the largest response, by atomicMax() on its bits; NULL with outputs=response. */
float *strongest_largest(const struct strongest_step *step, const struct harris_params *params);
/* The table. Nothing with outputs=response. */
enum status strongest_launch(struct strongest_step *step, const struct image out[], const struct harris_params *params,
                             cudaStream_t stream);
void strongest_teardown(struct strongest_step *step);

#endif
