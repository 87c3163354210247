/*
 * Idea:     a weighted square is a weighted row of weighted columns: all rows first, then all columns of those sums.
 * Changed:  two passes with an image of 16-bit sums between them; a row with its border copied to both sides needs no
 *           clamp, and the loops over x are innermost, so that the compiler takes a vector of samples at a time.
 * Expect:   2 * ksize products a sample instead of ksize * ksize, no clamp in any of them, and vectors: over a hundred
 *           times omp.
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/blur.h"

static int clamp(int value, int maximum)
{
    return value < 0 ? 0 : value > maximum ? maximum : value;
}

/* The row's samples with `radius` copies of its first and last pixel before and behind. */
static void pad_row(uint8_t *padded, const uint8_t *row, int width, int channels, int radius)
{
    memcpy(padded + radius * channels, row, (size_t)(width * channels));
    for (int x = 0; x < radius; x++) {
        memcpy(padded + x * channels, row, (size_t)channels);
        memcpy(padded + (radius + width + x) * channels, row + (width - 1) * channels, (size_t)channels);
    }
}

static void sum_along_row(uint16_t *restrict sums, const uint8_t *restrict padded, const uint16_t *weights, int ksize,
                          int samples, int channels)
{
    memset(sums, 0, (size_t)samples * sizeof *sums);
    for (int i = 0; i < ksize; i++)
        for (int x = 0; x < samples; x++)
            sums[x] = (uint16_t)(sums[x] + weights[i] * padded[x + i * channels]); /* at most 255 * 256 in all */
}

static void sum_down_columns(uint32_t *restrict sums, const uint16_t *restrict row, uint16_t weight, int samples)
{
    for (int x = 0; x < samples; x++)
        sums[x] += (uint32_t)weight * row[x];
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int ksize = params->ksize, radius = ksize / 2, samples = in->width * in->channels;
    uint16_t weights[BLUR_MAX_KSIZE];
    uint16_t *along = malloc((size_t)in->height * (size_t)samples * sizeof *along);
    int lost = along == NULL;

    blur_weights(params, weights);
#pragma omp parallel reduction(| : lost)
    {
        uint8_t *padded = malloc((size_t)(in->width + 2 * radius) * (size_t)in->channels);
        uint32_t *sums = malloc((size_t)samples * sizeof *sums);

        lost |= !padded || !sums;
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++) {
            if (lost)
                continue;
            pad_row(padded, image_row(in, y), in->width, in->channels, radius);
            sum_along_row(along + (size_t)y * (size_t)samples, padded, weights, ksize, samples, in->channels);
        }
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++) {
            uint8_t *row = image_row(out, y);

            if (lost)
                continue;
            for (int x = 0; x < samples; x++)
                sums[x] = 1 << (2 * BLUR_WEIGHT_BITS - 1);
            for (int j = 0; j < ksize; j++)
                sum_down_columns(sums, along + (size_t)clamp(y + j - radius, in->height - 1) * (size_t)samples,
                                 weights[j], samples);
            for (int x = 0; x < samples; x++)
                row[x] = (uint8_t)(sums[x] >> (2 * BLUR_WEIGHT_BITS));
        }
        free(padded);
        free(sums);
    }
    free(along);
    return lost ? status_set(STATUS_NO_MEMORY, "no memory for the sums along rows") : STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
