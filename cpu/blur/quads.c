/*
 * Idea:     four neighbouring samples of a channel are the bytes of a 32-bit lane (a quad). One instruction, dot4,
 *           multiplies all four by their weights and adds them up. The outputs at the four places of a quad, its
 *           phases, have shifted weights, so that no sample has to be shifted.
 * Changed:  blur_across() takes two lines at once, by vectors, and blur_down() puts the phases back in order. Samples are
 *           taken as sample - 128, so that dot4 may take the weights, up to 254, as unsigned; 256 is a copy.
 * Expect:   5 dot4 for 4 outputs, 20 a vector of quads, in place of 15 taps of a load or two, a product and a sum for half as
 *           many lanes: that pass takes a third of its time, all together 1.5 times pairs with AVX-512 VNNI and 1.2
 *           times with AVX2, where dot4 is two instructions. RGB pays for its way into quads and back, a permutation each.
 * Result:   missed with AVX2: 0.77 times pairs (results/cpu2_avx2/blur/blur_1920x1080.json). Sums of four phases are
 *           stored and put in order one by one, which the next rung ends.
 * From:     cpu/pairs
 */
/* Try: make bench-blur VERSIONS=cpu/serial,cpu/pairs,cpu/quads */
#include <stdlib.h>
#include <string.h>

#include "cpu/blur/shared/quads.h"

enum {
    STRIP = 384, /* samples of a row that are taken on at once: whole vectors */
    MARGIN = 64, /* at least 15 pixels of 3 channels */
    LANES = SIMD_BYTES / 4
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

/* Two lines, from the leftmost tap of the strip's first sample on, into pairs: in each vector of them one phase of quads. */
static void blur_across(const struct tables *tables, const uint8_t *upper, const uint8_t *lower, int ksize,
                        int channels, uint32_t *pairs)
{
    for (int x = 0; x < STRIP; x += SIMD_BYTES) {
        simd_i32 sums[2][4] = {0};
        for (int quad = 0; quad < (ksize + 6) / 4; quad++) {
            const int offset = x + quad * 4 * channels;
            const simd_u8 samples[2] = {simd_load(upper + offset), simd_load(lower + offset)};
            for (int phase = 0; phase < 4; phase++)
                for (int row = 0; row < 2; row++)
                    sums[row][phase] = simd_dot4(sums[row][phase], tables->across[quad][phase], samples[row]);
        }
        for (int phase = 0; phase < 4; phase++) {
            simd_i32 low = simd_dot4_total(sums[0][phase]), high = simd_dot4_total(sums[1][phase]);
            simd_store(&pairs[x + phase * LANES], (simd_u8)((low & 0xffff) | high << 16));
        }
    }
}

/* Row y and the one below it, whose sums take the high halves. */
static void make_pairs(const struct image *in, const struct tables *tables, int ksize, int start, int y,
                       uint32_t *pairs)
{
    const int halo = ksize / 2 * in->channels;
    uint8_t line[2 * MARGIN + STRIP + SIMD_PERMUTE_BYTES], quads[2][2 * MARGIN + STRIP + SIMD_PERMUTE_BYTES];

    for (int row = 0; row < 2; row++) {
        fetch(in, y + row, start, halo, line + MARGIN);
        to_quads(line + MARGIN - halo, in->channels, quads[row], STRIP + 2 * halo);
    }
    blur_across(tables, quads[0], quads[1], ksize, in->channels, pairs);
}

/* From the pairs that rows y and y + 1 of the result need into these rows; down[pair][row] are two weights in each lane. */
static void blur_down(const uint32_t pairs[][STRIP], simd_i16 down[][2], struct image *out, int count, int start, int y)
{
    const simd_i32 bias = (simd_i32)simd_splat((32768 << BLUR_WEIGHT_BITS) + (1 << (2 * BLUR_WEIGHT_BITS - 1)));
    uint32_t total[2][STRIP];
    uint8_t result[STRIP + SIMD_PERMUTE_BYTES];

    for (int x = 0; x < STRIP; x += LANES) {
        simd_i32 sums[2] = {bias, bias};
        for (int pair = 0; pair < count; pair++)
            for (int row = 0; row < 2; row++)
                sums[row] = simd_dot2(sums[row], (simd_i16)simd_load(&pairs[pair][x]), down[pair][row]);
        simd_store(&total[0][x], (simd_u8)sums[0]);
        simd_store(&total[1][x], (simd_u8)sums[1]);
    }
    for (int row = 0; row < minimum(2, out->height - y); row++) {
        for (int x = 0; x < STRIP; x += SIMD_BYTES)
            for (int i = 0; i < SIMD_BYTES; i++)
                result[x + i] = (uint8_t)(total[row][x + i % 4 * LANES + i / 4] >> (2 * BLUR_WEIGHT_BITS));
        from_quads(result, out->channels, (uint8_t *)image_row(out, y + row) + start,
                   minimum(STRIP, out->width * out->channels - start));
    }
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int ksize = params->ksize, strips = (in->width * in->channels + STRIP - 1) / STRIP;
    const int turns = (in->height + 1) / 2, count = (ksize + 1) / 2, rows = turns + count - 1; /* of pairs in a strip */
    uint16_t weights[BLUR_MAX_KSIZE];
    uint32_t(*pairs)[STRIP] = malloc((size_t)strips * (size_t)rows * sizeof *pairs);
    struct tables tables;

    if (!pairs)
        return status_set(STATUS_NO_MEMORY, "no memory for the sums along %d rows", in->height);
    blur_weights(params, weights);
    if (weights[ksize / 2] == 256) { /* all others are 0: the image itself, and 256 does not fit in 8 bits */
        free(pairs);
        image_copy(out, in);
        return STATUS_OK;
    }
    make_tables(weights, ksize, &tables);
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
        for (int strip = 0; strip < strips; strip++)
            for (int n = 0; n < rows; n++)
                make_pairs(in, &tables, ksize, strip * STRIP, 2 * n - ksize / 2, pairs[strip * rows + n]);
#pragma omp for collapse(2) schedule(static)
        for (int strip = 0; strip < strips; strip++)
            for (int n = 0; n < turns; n++)
                blur_down(pairs + strip * rows + n, tables.down, out, count, strip * STRIP, 2 * n);
    }
    free(pairs);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
