/*
 * Problem:  Compute-bound: one core computes all 467 million products of a 1920x1080 image.
 * Idea:     Each thread takes a block of rows. schedule(static), because all rows cost the same.
 * Expect:   The speedup is the number of cores: the work lies in registers and L1, which are not
 *           shared.
 * Result:   1.98 times as fast as cpu/serial with 2 threads
 *           (results/cpu2/blur/blur_1920x1080.json); 8.5 times with 16 threads
 *           (results/h100/blur/blur_3840x2160.json): the reason is not known.
 * Run:      make diff-blur A=cpu/serial B=cpu/omp
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
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        uint8_t *row = image_row(out, y);
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                row[x * in->channels + c] = blur_sample(in, weights, params->ksize, x, y, c);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
