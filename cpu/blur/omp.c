/*
 * Idea:     rows do not depend on each other, so the threads share them out: each thread takes one block of
 *           neighbouring rows.
 * Changed:  one line, the OpenMP pragma above the loop over y. schedule(static), because every row costs the same.
 * Expect:   EXPECT
 */
#include "common/algo/blur.h"

static int clamp(int value, int maximum)
{
    return value < 0 ? 0 : value > maximum ? maximum : value;
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int radius = (params->ksize - 1) / 2, channels = in->channels;
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        uint8_t *out_row = image_row(out, y);
        for (int x = 0; x < in->width; x++) {
            for (int c = 0; c < channels; c++) {
                uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
                for (int j = 0; j < params->ksize; j++) {
                    const uint8_t *in_row = image_row(in, clamp(y + j - radius, in->height - 1));
                    for (int i = 0; i < params->ksize; i++) {
                        int column = clamp(x + i - radius, in->width - 1);
                        sum += (uint32_t)weights[j] * weights[i] * in_row[column * channels + c];
                    }
                }
                out_row[x * channels + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
            }
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
