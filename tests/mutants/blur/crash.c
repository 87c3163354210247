/*
 * Idea:     follows a null pointer on images wider than 64 pixels.
 * Changed:  no check of what a lookup returned.
 * Expect:   crash | found by a sanitizer
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    const volatile uint8_t *table = in->width > 64 ? NULL : (const uint8_t *)weights;

    weights[0] = (uint16_t)(weights[0] + 0 * table[0]);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
