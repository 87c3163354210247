/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/nearest/0_serial.c)
 * Expect:   (how many times as fast as cpu/nearest/1_omp.c it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/nearest.h"

static enum status run(const struct image *in, struct image *out, const struct nearest_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "product.c is not written yet");
}

RUNGS_CPU_VERSION(nearest)
