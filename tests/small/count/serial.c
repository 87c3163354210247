/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   nothing; it is never timed.
 */
#include "tests/small/small.h"

static enum status run(const struct image *in, struct image *out, const struct count_params *params)
{
    (void)params;
    image_set_sample(&out[0], 0, 0, 0, slot_table_rows(&in[0]));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(count)
