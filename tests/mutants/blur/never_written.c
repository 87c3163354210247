/*
 * Idea:     returns at once.
 * Changed:  no work at all, and no write.
 * Expect:   never written: not one sample
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    (void)in, (void)out;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
