/*
 * Idea:     adds to what the output holds, as if it were zero.
 * Changed:  += in place of =.
 * Expect:   what the output held before
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
                           (uint8_t)(((const uint8_t *)image_row(out, y))[x * out->channels + c] +
                                     mutant_sample(in, weights, params->ksize, x, y, c)));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
