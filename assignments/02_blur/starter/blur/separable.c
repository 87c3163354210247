/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/omp)
 * Expect:   (how many times as fast as cpu/omp it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/blur.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "separable.c is not written yet");
}

RUNGS_CPU_VERSION(blur)
