/*
 * Idea:     one rounding less: a fused multiply-add.
 * Changed:  x cosine + y sine is rounded once.
 * Expect:   each row has the right sum: what is counted goes to wrong places in its row
 * Case:     2051x3
 */
#include "tests/mutants/hough/mutant.h"

static int offset(int x, int y, struct hough_angle angle)
{
    return (int)rintf(fmaf((float)x, angle.cosine, (float)y * angle.sine));
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    return mutant_run(in, out, params, offset, mutant_increment, hough_votes_for, hough_is_line);
}

RUNGS_CPU_VERSION(hough)
