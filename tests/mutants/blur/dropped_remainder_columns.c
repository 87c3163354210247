/*
 * Idea:     a loop over groups of 16 columns forgets the columns after the last full group.
 * Changed:  the remainder loop is gone.
 * Expect:   remainder after the last full tile of 16 columns
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width / 16 * 16; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
