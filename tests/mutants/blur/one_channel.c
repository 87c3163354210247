/*
 * Idea:     uses the weights of an empty table for the green channel.
 * Changed:  channel 1 is 0.
 * Expect:   only channel 1 (of 3) is wrong
 * Case:     13x7, 3 channels, random
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, c == 1 ? 0 : mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
