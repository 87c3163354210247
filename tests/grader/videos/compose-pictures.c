/* expect: right 0..0 | speed 0..0 | says RUNGS_PIPELINE_VERSION */
/*
 * Idea:     a version for pictures where a pipeline is asked for.
 * Changed:  as above.
 * Expect:   the verdict in the first line.
 */
#include "common/algo/motion.h"

static enum status run(const struct image *in, struct image *out, const struct motion_params *params)
{
    (void)in, (void)out, (void)params;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(motion)
