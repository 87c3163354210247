/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   PASS
 */
#include "tests/mutants/hough/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    return mutant_run(in, out, params, hough_offset, mutant_increment, hough_votes_for, hough_is_line);
}

RUNGS_CPU_VERSION(hough)
