/*
 * Idea:     the loop of Jošth 2014, which searches only rows that have all their neighbours.
 * Changed:  rows below n / 2 and above theta_steps - n / 2 - 1 are not searched.
 * Expect:   row missing, first (rho | rows missing, first (rho
 * Case:     33x129
 */
#include "tests/mutants/hough/mutant.h"

static bool is_line(const struct image *accumulator, struct hough_space space, int n, int r,
                    const struct hough_params *params)
{
    return n >= params->radius && n < space.rows - params->radius && hough_is_line(accumulator, space, n, r, params);
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    return mutant_run(in, out, params, hough_offset, mutant_increment, hough_votes_for, is_line);
}

RUNGS_CPU_VERSION(hough)
