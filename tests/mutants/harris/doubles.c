/*
 * Idea:     det in doubles, whatever the window weighs.
 * Changed:  a Gaussian of 5 weighs 256, and a c, above 2^53, is rounded.
 * Expect:   errors on a lattice of 8 columns and 8 rows
 * Case:     hard case: heavy
 */
#include "common/algo/harris.h"

static float respond(const struct harris_params *params, struct harris_sums sums)
{
    const double a = sums.a, b = sums.b, c = sums.c, trace = a + c;
    const volatile double product = a * c, square = b * b; /* volatile: the compiler makes no fma of them */
    const float response = (float)fma(-params->k, trace * trace, product - square) * params->scale;

    return params->window == HARRIS_NONE ? fabsf(response) : response;
}

#define MUTANT_RESPOND respond
#include "tests/mutants/harris/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, mutant_products, mutant_is_corner);
}

RUNGS_CPU_VERSION(harris)
