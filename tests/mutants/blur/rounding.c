/*
 * Idea:     truncates where the contract rounds.
 * Changed:  no half is added before the shift.
 * Expect:   rounding (truncated
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c,
                           (uint8_t)(mutant_sum(in, weights, params->ksize, x, y, c) >> (2 * BLUR_WEIGHT_BITS)));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
