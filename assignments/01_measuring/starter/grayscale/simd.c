/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since your omp.c)
 * Expect:   (how many times as fast as omp.c it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "simd.c is not written yet");
}

RUNGS_CPU_VERSION(grayscale)
