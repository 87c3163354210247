/*
 * Idea:     at the right border it reads on, into the row's padding, in place of clamping.
 * Changed:  no clamp to the last column.
 * Expect:   outside the input | found by a sanitizer
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++) {
                const int radius = (params->ksize - 1) / 2;
                uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);

                for (int j = 0; j < params->ksize; j++) {
                    const uint8_t *row = (const uint8_t *)image_row(in, mutant_clamp(y + j - radius, in->height - 1));

                    for (int i = 0; i < params->ksize; i++)
                        sum += (uint32_t)weights[j] * weights[i] *
                               row[mutant_clamp(x + i - radius, in->width) * in->channels + c];
                }
                mutant_put(out, x, y, c, (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS)));
            }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
