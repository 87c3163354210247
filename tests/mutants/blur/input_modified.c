/*
 * Idea:     uses the input as scratch memory.
 * Changed:  rounds the input's middle pixel down to an even value in place.
 * Expect:   input modified | found by a sanitizer
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    ((uint8_t *)image_row(in, in->height / 2))[in->width / 2] ^= 1;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
