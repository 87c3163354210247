/*
 * Idea:     The definition: each output sample is a weighted sum over ksize x ksize samples of the
 *           input; coordinates outside of the image are clamped to its border.
 * Expect:   0.5 s: at ksize=15 a sample is the sum of 225 products of 13 instructions each; the 467
 *           million products of 1920x1080 take 1.1 ns each. Memory does not matter: 4 MB in all.
 * Result:   0.53 s (results/cpu2/blur/blur_1920x1080.json), as predicted.
 * Run:      make bench-blur VERSIONS=cpu/serial SIZE=640x360
 */
#include "common/algo/blur.h"

static int clamp(int value, int maximum)
{
    return value < 0 ? 0 : value > maximum ? maximum : value;
}

/* Never inlined, or gcc spills other registers in each rung's loop and the rungs differ by that too (up to 20 %). */
static __attribute__((noinline)) uint8_t blur_sample(const struct image *in, const uint16_t *weights, int ksize, int x,
                                                     int y, int c)
{
    uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);

    for (int j = 0; j < ksize; j++) {
        const uint8_t *row = image_row(in, clamp(y + j - ksize / 2, in->height - 1));
        for (int i = 0; i < ksize; i++) {
            int column = clamp(x + i - ksize / 2, in->width - 1);
            sum += (uint32_t)weights[j] * weights[i] * row[column * in->channels + c];
        }
    }
    return (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++) {
        uint8_t *row = image_row(out, y);
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                row[x * in->channels + c] = blur_sample(in, weights, params->ksize, x, y, c);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
