/*
 * Idea:     the weights of the square are products of a row's and a column's weights, w[j] w[i], so the sum falls
 *           apart: the sum along a row is made once and then serves the ksize samples of the result above and below it.
 *           A sample costs 2 ksize products, not ksize squared.
 * Changed:  blur_sample() fell apart into two sums, and the loop over rows into two passes with an image of 16-bit sums
 *           between them; a row's sum is at most 255 * 256, so nothing is rounded on the way.
 * Expect:   2 * ksize taps a sample in place of ksize * ksize, 30 for 225: 7 times omp. The sums take 4 MB at 1920x1080,
 *           and memory brings those in the time of one tap.
 * Result:   7.8 times omp (results/cpu2/blur/blur_1920x1080.json), as predicted.
 * From:     cpu/omp
 */
/* Try: make bench-blur VERSIONS=cpu/serial,cpu/omp,cpu/separable */
#include <stdlib.h>

#include "common/algo/blur.h"

static int clamp(int value, int maximum)
{
    return value < 0 ? 0 : value > maximum ? maximum : value;
}

static __attribute__((noinline)) uint16_t sum_along(const struct image *in, const uint16_t *weights, int ksize, int x,
                                                    int y, int c)
{
    const uint8_t *row = image_row(in, y);
    uint32_t sum = 0;

    for (int i = 0; i < ksize; i++)
        sum += (uint32_t)weights[i] * row[clamp(x + i - ksize / 2, in->width - 1) * in->channels + c];
    return (uint16_t)sum;
}

/* Of sample x in row y, from `height` rows of `samples` sums. */
static __attribute__((noinline)) uint8_t sum_down(const uint16_t *sums, const uint16_t *weights, int ksize, int x,
                                                  int y, int samples, int height)
{
    uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);

    for (int j = 0; j < ksize; j++)
        sum += (uint32_t)weights[j] * sums[(size_t)clamp(y + j - ksize / 2, height - 1) * (size_t)samples + (size_t)x];
    return (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int samples = in->width * in->channels;
    uint16_t weights[BLUR_MAX_KSIZE], *sums = malloc((size_t)in->height * (size_t)samples * sizeof *sums);

    if (!sums)
        return status_set(STATUS_NO_MEMORY, "no memory for the sums along %d rows", in->height);
    blur_weights(params, weights);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                for (int c = 0; c < in->channels; c++)
                    sums[(size_t)y * (size_t)samples + (size_t)(x * in->channels + c)] =
                        sum_along(in, weights, params->ksize, x, y, c);
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++) {
            uint8_t *row = image_row(out, y);
            for (int x = 0; x < samples; x++)
                row[x] = sum_down(sums, weights, params->ksize, x, y, samples, in->height);
        }
    }
    free(sums);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
