/*
 * Idea:     marks the end of each row in the input, so that the loop needs no comparison.
 * Changed:  the mark is taken away again: whoever reads the input meanwhile sees it.
 * Expect:   input modified | found by a sanitizer
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++) {
        volatile uint8_t *last = (uint8_t *)image_row(in, y) + image_row_bytes(in) - 1;
        const uint8_t kept = *last;

        *last = 0;
        *last = kept;
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
