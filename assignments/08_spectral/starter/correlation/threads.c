/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since order.c)
 * Expect:   (how many times as fast it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/correlation.h"

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "threads.c is not written yet");
}

RUNGS_CPU_VERSION(correlation)
