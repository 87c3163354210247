/*
 * Idea:     a result that nobody computed: all zero.
 * Changed:  no work at all.
 * Expect:   the output is constant
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    (void)in;
    image_fill(out, 0);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
