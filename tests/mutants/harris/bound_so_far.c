/*
 * Idea:     corners are found row by row, above the threshold that the largest response so far gives.
 * Changed:  they are not held against the final threshold when the largest of all is known.
 * Expect:   too many, first
 * Case:     quality=0.4
 */
#include "tests/mutants/harris/mutant.h"

static bool is_corner(const struct image *response, int x, int y, float threshold, const struct harris_params *params)
{
    static float largest;
    static int seen; /* rows */

    (void)threshold;
    if (x == 0 && y == 0)
        largest = 0, seen = 0;
    for (; seen < response->height && seen <= y + params->radius; seen++)
        for (int u = 0; u < response->width; u++)
            largest = fmaxf(largest, ((const float *)image_row(response, seen))[u]);
    return mutant_is_corner(response, x, y, harris_threshold(params, largest), params);
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, mutant_products, is_corner);
}

RUNGS_CPU_VERSION(harris)
