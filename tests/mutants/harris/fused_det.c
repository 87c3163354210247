/*
 * Idea:     det in doubles, as a fused multiplication and subtraction.
 * Changed:  of a c - b^2 only b^2 is rounded, which a Gaussian of 5 makes larger than 2^53.
 * Expect:   off slightly: rounding
 * Case:     hard case: stripes
 */
#include "common/algo/harris.h"

static float respond(const struct harris_params *params, struct harris_sums sums)
{
    const double a = sums.a, b = sums.b, c = sums.c, trace = a + c;
    const float response = (float)fma(-params->k, trace * trace, fma(a, c, -(b * b))) * params->scale;

    return params->window == HARRIS_NONE ? fabsf(response) : response;
}

#define MUTANT_RESPOND respond
#include "tests/mutants/harris/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, mutant_products, mutant_is_corner);
}

RUNGS_CPU_VERSION(harris)
