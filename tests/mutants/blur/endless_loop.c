/*
 * Idea:     never ends on images wider than 64 pixels.
 * Changed:  a loop whose counter wraps around.
 * Expect:   time-out
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (volatile uint8_t i = 0; i < in->width && in->width > 255; i++)
        continue;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
