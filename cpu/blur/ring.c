/*
 * Idea:     a row of pairs is needed by the next rows of the result and no others: go down a strip, keep the latest rows of
 *           pairs in a ring, and they never leave the first-level cache.
 * Changed:  the two passes became one, blur_strip(), down a strip of a band of rows; the image of pairs became its ring.
 * Expect:   2 bytes a sample between cache and memory in place of 6, and no pages of malloc() for the kernel to fill: 1.3
 *           times pairs at 3840x2160, less where the pairs fit in a cache. A band of 256 rows sums ksize - 1 rows once
 *           more, 5 % at ksize 15.
 * From:     cpu/pairs
 */
/* Try: make bench-blur VERSIONS=cpu/serial,cpu/pairs,cpu/ring SIZE=3840x2160 */
#include <string.h>

#include "common/algo/blur.h"
#include "common/simd/simd.h"

enum {
    STRIP = 384, /* samples of a row that are taken on at once: whole vectors */
    MARGIN = 64, /* at least 15 pixels of 3 channels */
    BAND = 256,  /* rows of the result that a thread takes on at once */
    LANES = SIMD_BYTES / 4,
    MAX_PAIRS = (BLUR_MAX_KSIZE + 1) / 2
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

/* Row y and the one below it, whose sums take the high halves. */
static void make_pairs(const struct image *in, const uint16_t *weights, int ksize, int start, int y, uint32_t *pairs)
{
    uint16_t low[STRIP], high[STRIP];

    blur_across(in, weights, ksize, start, y, low);
    blur_across(in, weights, ksize, start, y + 1, high);
    for (int x = 0; x < STRIP; x++)
        pairs[x] = (low[x] | (uint32_t)high[x] << 16) ^ 0x80008000; /* minus 32768 each */
}

/* The ring, whose oldest pair is `oldest`, into rows y and y + 1; down[pair][row] are two weights in each lane. */
static void blur_down(uint32_t ring[][STRIP], int oldest, simd_i16 down[][2], struct image *out, int count, int start,
                      int y)
{
    const simd_i32 bias = (simd_i32)simd_splat((32768 << BLUR_WEIGHT_BITS) + (1 << (2 * BLUR_WEIGHT_BITS - 1)));
    uint32_t total[2][STRIP];
    uint8_t result[STRIP];
    const uint32_t *pairs[MAX_PAIRS];

    for (int pair = 0; pair < count; pair++)
        pairs[pair] = ring[(oldest + pair) % count];
    for (int x = 0; x < STRIP; x += LANES) {
        simd_i32 sums[2] = {bias, bias};
        for (int pair = 0; pair < count; pair++)
            for (int row = 0; row < 2; row++)
                sums[row] = simd_dot2(sums[row], (simd_i16)simd_load(&pairs[pair][x]), down[pair][row]);
        simd_store(&total[0][x], (simd_u8)sums[0]);
        simd_store(&total[1][x], (simd_u8)sums[1]);
    }
    for (int row = 0; row < minimum(2, out->height - y); row++) {
        for (int x = 0; x < STRIP; x++)
            result[x] = (uint8_t)(total[row][x] >> (2 * BLUR_WEIGHT_BITS));
        memcpy((uint8_t *)image_row(out, y + row) + start, result,
               (size_t)minimum(STRIP, out->width * out->channels - start));
    }
}

static void blur_strip(const struct image *in, struct image *out, const uint16_t *weights, simd_i16 down[][2],
                       int ksize, int start, int top)
{
    const int radius = ksize / 2, count = (ksize + 1) / 2, bottom = minimum(top + BAND, in->height);
    uint32_t ring[MAX_PAIRS][STRIP];

    /* Turn n sums along rows y + radius and the one below; from y = top on they complete rows y and y + 1 of the result. */
    for (int n = 0, y = top - 2 * radius; y < bottom; n++, y += 2) {
        make_pairs(in, weights, ksize, start, y + radius, ring[n % count]);
        if (y >= top)
            blur_down(ring, (n + 1) % count, down, out, count, start, y);
    }
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE + 1] = {0};
    simd_i16 down[MAX_PAIRS][2];

    blur_weights(params, weights);
    for (int pair = 0; pair < (params->ksize + 1) / 2; pair++) {
        const uint32_t before = pair ? weights[2 * pair - 1] : 0, first = weights[2 * pair],
                       second = weights[2 * pair + 1];
        down[pair][0] = (simd_i16)simd_splat(first | second << 16);
        down[pair][1] = (simd_i16)simd_splat(before | first << 16);
    }
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int top = 0; top < in->height; top += BAND)
        for (int start = 0; start < in->width * in->channels; start += STRIP)
            blur_strip(in, out, weights, down, params->ksize, start, top);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
