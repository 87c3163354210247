/*
 * Idea:     only squares follow, so the sign of a gradient does not matter.
 * Changed:  it does: gx gy is summed over the window, and loses its sign here.
 * Expect:   errors on a lattice of 8 columns and 8 rows
 * Case:     hard case: tiles
 */
#include "tests/mutants/harris/mutant.h"

static struct harris_sums multiply(const struct image *in, int x, int y, const struct harris_params *params)
{
    struct harris_sums product = mutant_products(in, x, y, params);

    product.b = product.b < 0 ? -product.b : product.b;
    return product;
}

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, multiply, mutant_is_corner);
}

RUNGS_CPU_VERSION(harris)
