/*
 * Idea:     pixels whose coordinates add up to a multiple of 7 are never written.
 * Changed:  an `if` before the write.
 * Expect:   never written
 * Case:     13x7, 1 channel, random
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                if ((x + y) % 7 != 0)
                    mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
