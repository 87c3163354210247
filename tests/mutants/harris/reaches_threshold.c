/*
 * Idea:     what reaches the threshold is a corner.
 * Changed:  at least the threshold is enough, where it must be exceeded.
 * Expect:   1 too many, first
 * Case:     quality=1 
 */
#include "tests/mutants/harris/mutant.h"

static bool is_corner(const struct image *response, int x, int y, float threshold, const struct harris_params *params)
{
    return ((const float *)image_row(response, y))[x] >= threshold && harris_is_peak(response, x, y, params->radius);
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, mutant_products, is_corner);
}

RUNGS_CPU_VERSION(harris)
