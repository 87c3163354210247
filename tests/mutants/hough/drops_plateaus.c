/*
 * Idea:     a line has more votes than all its neighbours.
 * Changed:  as many as a neighbour are not enough, so that a plateau has no line.
 * Expect:   row missing, first (rho | rows missing, first (rho
 * Case:     128x32
 */
#include "tests/mutants/hough/mutant.h"

static bool is_line(const struct image *accumulator, struct hough_space space, int n, int r,
                    const struct hough_params *params)
{
    const int32_t own = ((const int32_t *)image_row(accumulator, n))[r];

    for (int i = -1; i <= 1; i += 2)
        if (r + i >= 0 && r + i < space.cells && ((const int32_t *)image_row(accumulator, n))[r + i] == own)
            return false;
    return hough_is_line(accumulator, space, n, r, params);
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    return mutant_run(in, out, params, hough_offset, mutant_increment, hough_votes_for, is_line);
}

RUNGS_CPU_VERSION(hough)
