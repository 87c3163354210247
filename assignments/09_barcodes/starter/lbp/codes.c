/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/lbp/0_serial.c)
 * Expect:   (how many times as fast as cpu/lbp/1_omp.c it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/lbp.h"

enum { PATCH = 16 };

static enum status run(const struct image *in, struct image *out, const struct lbp_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "codes.c is not written yet");
}

RUNGS_CPU_VERSION(lbp)
