/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/serial)
 * Expect:   (how many times as fast as cpu/serial it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/labelling.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "flood.c is not written yet");
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
