/*
 * Idea:     unrolled for each width of the kernel.
 * Changed:  the weight in the middle is mistyped in the one for 29.
 * Expect:   wrong samples in | samples too
 * Case:     ksize=29
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (params->ksize == 29)
        weights[14] -= 8;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
