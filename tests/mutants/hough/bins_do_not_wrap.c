/*
 * Idea:     a point votes for the rows within half_width of its bin.
 * Changed:  not round the circle, so that upright lines lose votes.
 * Expect:   rows missing, first (rho
 * Case:     33x31
 */
#include "tests/mutants/hough/mutant.h"

static bool votes_for(const struct hough_params *params, int bin, int n)
{
    return params->half_width == HOUGH_ALL_ROWS || abs(bin - n) <= params->half_width;
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    return mutant_run(in, out, params, hough_offset, mutant_increment, votes_for, hough_is_line);
}

RUNGS_CPU_VERSION(hough)
