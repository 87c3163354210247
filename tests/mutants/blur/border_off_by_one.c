/*
 * Idea:     clamps to width and height in place of width - 1 and height - 1, one pixel too far (read
 *           there as 0).
 * Changed:  the bounds of the clamp.
 * Expect:   border handling
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
                    for (int i = 0; i < params->ksize; i++) {
                        const int u = mutant_clamp(x + i - radius, in->width);
                        const int v = mutant_clamp(y + j - radius, in->height);

                        if (u < in->width && v < in->height)
                            sum += (uint32_t)weights[j] * weights[i] *
                                   ((const uint8_t *)image_row(in, v))[u * in->channels + c];
                    }
                }
                mutant_put(out, x, y, c, (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS)));
            }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
