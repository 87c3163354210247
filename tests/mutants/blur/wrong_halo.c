/*
 * Idea:     works on tiles of 16 columns and clamps to the tile where it should clamp to the image.
 * Changed:  the tile has no halo.
 * Expect:   lattice of 16 columns
 * Case:     65x63
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++) {
                const int radius = (params->ksize - 1) / 2, first = x / 16 * 16;
                const int last = first + 15 < in->width ? first + 15 : in->width - 1;
                uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);

                for (int j = 0; j < params->ksize; j++) {
                    const uint8_t *row = (const uint8_t *)image_row(in, mutant_clamp(y + j - radius, in->height - 1));

                    for (int i = 0; i < params->ksize; i++) {
                        const int u = first + mutant_clamp(x + i - radius - first, last - first);
                        sum += (uint32_t)weights[j] * weights[i] * row[u * in->channels + c];
                    }
                }
                mutant_put(out, x, y, c, (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS)));
            }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
