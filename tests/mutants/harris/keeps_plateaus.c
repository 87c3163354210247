/*
 * Idea:     a peak is at least as large as all around it.
 * Changed:  of equal ones all count, not the first alone.
 * Expect:   too many, first
 * Case:     17x15, 1 channel, gradient
 */
#include "tests/mutants/harris/mutant.h"

static bool is_corner(const struct image *response, int x, int y, float threshold, const struct harris_params *params)
{
    const int radius = params->radius;
    const float own = ((const float *)image_row(response, y))[x];

    if (!(own > threshold) || x < radius || y < radius || x >= response->width - radius ||
        y >= response->height - radius)
        return false;
    for (int v = y - radius; v <= y + radius; v++)
        for (int u = x - radius; u <= x + radius; u++)
            if (((const float *)image_row(response, v))[u] > own)
                return false;
    return true;
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, mutant_products, is_corner);
}

RUNGS_CPU_VERSION(harris)
