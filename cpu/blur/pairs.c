/*
 * Idea:     the sums of two rows, 16 bits each, are the halves of a 32-bit lane. One instruction, dot2, multiplies both
 *           halves by their weights and adds both products to a sum, which stays in a register until all taps are in.
 * Changed:  rows of sums became rows of pairs, and blur_down() goes through them by vectors, for two rows of the result at
 *           once. A sum along a row, 0..65280, minus 32768 fits in 16 bits with a sign.
 * Expect:   two taps down the columns are half a load and an instruction in place of four loads, two stores, two products
 *           and two sums. That pass is half of the time and all but vanishes: 1.5 times rows.
 * Result:   1.4 times rows (results/cpu2/blur/blur_1920x1080.json), nearly as predicted: 0.86 times OpenCV, which simd passes.
 * From:     cpu/rows
 */
/* Try: make bench-blur VERSIONS=cpu/serial,cpu/rows,cpu/pairs */
#include <stdlib.h>
#include <string.h>

#include "common/algo/blur.h"
#include "common/simd/simd.h"

enum {
    STRIP = 384, /* samples of a row that are taken on at once: whole vectors */
    MARGIN = 64, /* at least 15 pixels of 3 channels */
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

/* From the pairs that rows y and y + 1 of the result need into these rows; down[pair][row] are two weights in each lane. */
static void blur_down(const uint32_t pairs[][STRIP], simd_i16 down[][2], struct image *out, int count, int start, int y)
{
    const simd_i32 bias = (simd_i32)simd_splat((32768 << BLUR_WEIGHT_BITS) + (1 << (2 * BLUR_WEIGHT_BITS - 1)));
    uint32_t total[2][STRIP];
    uint8_t result[STRIP];

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

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int ksize = params->ksize, strips = (in->width * in->channels + STRIP - 1) / STRIP;
    const int turns = (in->height + 1) / 2, count = (ksize + 1) / 2, rows = turns + count - 1; /* of pairs in a strip */
    uint16_t weights[BLUR_MAX_KSIZE + 1] = {0};
    uint32_t(*pairs)[STRIP] = malloc((size_t)strips * (size_t)rows * sizeof *pairs);
    simd_i16 down[MAX_PAIRS][2];

    if (!pairs)
        return status_set(STATUS_NO_MEMORY, "no memory for the sums along %d rows", in->height);
    blur_weights(params, weights);
    for (int pair = 0; pair < count; pair++) {
        const uint32_t before = pair ? weights[2 * pair - 1] : 0, first = weights[2 * pair],
                       second = weights[2 * pair + 1];
        down[pair][0] = (simd_i16)simd_splat(first | second << 16);
        down[pair][1] = (simd_i16)simd_splat(before | first << 16);
    }
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
        for (int strip = 0; strip < strips; strip++)
            for (int n = 0; n < rows; n++)
                make_pairs(in, weights, ksize, strip * STRIP, 2 * n - ksize / 2, pairs[strip * rows + n]);
#pragma omp for collapse(2) schedule(static)
        for (int strip = 0; strip < strips; strip++)
            for (int n = 0; n < turns; n++)
                blur_down(pairs + strip * rows + n, down, out, count, strip * STRIP, 2 * n);
    }
    free(pairs);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
