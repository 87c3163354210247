/*
 * Idea:     as dropped_remainder_columns, but the forgotten columns are zeroed: poison does not show it.
 * Changed:  the remainder loop writes 0.
 * Expect:   remainder after the last full tile of 64 columns
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(
                    out, x, y, c,
                    x < in->width / 64 * 64 || in->width < 64 ? mutant_sample(in, weights, params->ksize, x, y, c) : 0);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
