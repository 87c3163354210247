/*
 * Idea:     the definition, but that the loop over windows ends one column early.
 * Changed:  the last window of each row is not looked at.
 * Expect:   score too small
 */
#include "tests/mutants/detect/mutant.h"

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct detect_params *params)
{
    return mutant_run(state, in, out, params, detect_stage_bin, 1);
}

RUNGS_CPU_VERSION_WITH_STATE(detect)
