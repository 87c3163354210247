/*
 * Idea:     the definition.
 * Changed:  nothing.
 * Expect:   PASS
 */
#include "tests/mutants/harris/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    return mutant_run(in, out, params, mutant_products, mutant_is_corner);
}

RUNGS_CPU_VERSION(harris)
