/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   PASS
 */
#include "tests/mutants/detect/mutant.h"

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    return mutant_run(state, in, out, params, detect_stage_bin, 0);
}

RUNGS_CPU_VERSION_WITH_STATE(detect)
