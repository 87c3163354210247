/*
 * Idea:     forgets that the kernel has a centre.
 * Changed:  each result is written one column to the right.
 * Expect:   shifted by (1,0)
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                if (x > 0)
                    mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x - 1, y, c));
                else
                    mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
