/*
 * Idea:     pixels outside are reflected, and gradients computed there as anywhere.
 * Changed:  the products are not reflected: gx changes its sign where the picture ends, and gx gy with it.
 * Expect:   only within 1 pixel of the image's border
 */
#include "tests/mutants/harris/mutant.h"

static struct harris_sums multiply(const struct image *in, int x, int y, const struct harris_params *params)
{
    int gx, gy;

    mutant_gradient(in, x, y, params, &gx, &gy);
    return (struct harris_sums){gx * gx, gx * gy, gy * gy};
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, multiply, mutant_is_corner);
}

RUNGS_CPU_VERSION(harris)
