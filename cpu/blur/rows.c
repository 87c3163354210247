/*
 * Idea:     the compiler makes vectors of a loop that runs along a row and has no branch in it, so all loops become
 *           like that.
 * Changed:  each tap is added to a whole strip of sums, so that the innermost loops run over neighbours in memory. A copy
 *           of the strip with what lies beside it needs no clamp, nor do sums of the rows beyond the border.
 * Expect:   16-bit sums along a row fill 32 lanes of a vector with AVX-512, 32-bit sums down the columns 16, and a tap is
 *           a load, a product and a sum in place of ten instructions: 20 times separable.
 * Result:   18 times separable (results/cpu2/blur/blur_1920x1080.json), nearly as predicted.
 * From:     cpu/separable
 */
/* Try: make bench-blur VERSIONS=cpu/serial,cpu/separable,cpu/rows */
#include <stdlib.h>
#include <string.h>

#include "common/algo/blur.h"

enum {
    STRIP = 384, /* samples of a row that are taken on at once: whole vectors */
    MARGIN = 64  /* at least 15 pixels of 3 channels */
};

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

/* Brings the strip at sample `start` of row y, and `halo` more on both sides, into a line. */
static void fetch(const struct image *in, int y, int start, int halo, uint8_t *line)
{
    const int samples = in->width * in->channels, end = minimum(start + STRIP + halo, samples);
    const uint8_t *row = image_row(in, y < 0 ? 0 : minimum(y, in->height - 1));

    for (int i = start ? start - halo : 0; i < end; i++)
        line[i - start] = row[i];
    for (int i = start - halo; i < 0; i++)
        line[i - start] = row[(i + halo) % in->channels];
    for (int i = samples; i < start + STRIP + halo; i++)
        line[i - start] = row[samples - in->channels + i % in->channels];
}

static void blur_across(const struct image *in, const uint16_t *weights, int ksize, int start, int y, uint16_t *sums)
{
    const int halo = ksize / 2 * in->channels;
    uint8_t line[MARGIN + STRIP + MARGIN];

    fetch(in, y, start, halo, line + MARGIN);
    memset(sums, 0, STRIP * sizeof *sums);
    for (int i = 0; i < ksize; i++)
        for (int x = 0; x < STRIP; x++)
            sums[x] = (uint16_t)(sums[x] + weights[i] * line[MARGIN - halo + i * in->channels + x]);
}

/* From the sums along the rows that row y of the result needs into this row. */
static void blur_down(const uint16_t sums[][STRIP], const uint16_t *weights, struct image *out, int ksize, int start,
                      int y)
{
    uint32_t sum[STRIP] = {0};
    uint8_t result[STRIP];

    for (int j = 0; j < ksize; j++)
        for (int x = 0; x < STRIP; x++)
            sum[x] += (uint32_t)weights[j] * sums[j][x];
    for (int x = 0; x < STRIP; x++)
        result[x] = (uint8_t)((sum[x] + (1 << (2 * BLUR_WEIGHT_BITS - 1))) >> (2 * BLUR_WEIGHT_BITS));
    memcpy((uint8_t *)image_row(out, y) + start, result, (size_t)minimum(STRIP, out->width * out->channels - start));
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int ksize = params->ksize, strips = (in->width * in->channels + STRIP - 1) / STRIP;
    const int rows = in->height + ksize - 1; /* of sums in a strip */
    uint16_t weights[BLUR_MAX_KSIZE], (*sums)[STRIP] = malloc((size_t)strips * (size_t)rows * sizeof *sums);

    if (!sums)
        return status_set(STATUS_NO_MEMORY, "no memory for the sums along %d rows", in->height);
    blur_weights(params, weights);
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
        for (int strip = 0; strip < strips; strip++)
            for (int n = 0; n < rows; n++)
                blur_across(in, weights, ksize, strip * STRIP, n - ksize / 2, sums[strip * rows + n]);
#pragma omp for collapse(2) schedule(static)
        for (int strip = 0; strip < strips; strip++)
            for (int y = 0; y < in->height; y++)
                blur_down(sums + strip * rows + y, weights, out, ksize, strip * STRIP, y);
    }
    free(sums);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
