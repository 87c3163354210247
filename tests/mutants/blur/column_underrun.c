/*
 * Idea:     begins one column too early.
 * Changed:  the loop over columns begins at -1.
 * Expect:   left of the first column | found by a sanitizer
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = -1; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
