/*
 * Idea:     a row of pairs is needed by the next rows of the result and by no others. A thread goes down a strip and
 *           keeps only the latest rows, in a ring, so that they never leave the first-level cache.
 * Changed:  the two passes became one, blur_strip(), down a strip of a band of rows, and the image of pairs its ring. The
 *           height of a band and how OpenMP shares bands and strips out are for a search to find.
 * Expect:   2 bytes a sample between cache and memory in place of 6, and no pages of malloc() for the kernel to fill: now
 *           that the sums take a third of the time of pairs, 1.5 times packed; more at 3840x2160, where the pairs fit in no
 *           cache. A band of 256 rows sums ksize - 1 rows once more, 5 % at ksize 15.
 * Result:   missed with AVX2: as packed within the noise (results/cpu2_avx2/blur/blur_1920x1080.json), RGB 1.16 times
 *           (blur_1920x1080_rgb.json beside it).
 * From:     cpu/packed
 */
/* Try: make bench-blur VERSIONS=cpu/serial,cpu/packed,cpu/ring SIZE=3840x2160 */
#include <string.h>

#include "cpu/blur/shared/bands.h"
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

/* The ring, whose oldest pair is `oldest`, into rows y and y + 1, those above `bottom` of them. */
static void blur_down(uint32_t ring[][STRIP], int oldest, const simd_i16 down[][2], struct image *out, int count,
                      int start, int y, int bottom)
{
    const simd_i32 bias = (simd_i32)simd_splat((32768 << BLUR_WEIGHT_BITS) + (1 << (2 * BLUR_WEIGHT_BITS - 1)));
    uint8_t result[2][STRIP + SIMD_PERMUTE_BYTES];
    const uint32_t *pairs[MAX_PAIRS];

    for (int pair = 0; pair < count; pair++)
        pairs[pair] = ring[(oldest + pair) % count];
    for (int x = 0; x < STRIP; x += SIMD_BYTES) {
        simd_i32 sums[2][4] = {{bias, bias, bias, bias}, {bias, bias, bias, bias}};
        for (int pair = 0; pair < count; pair++)
            for (int phase = 0; phase < 4; phase++)
                for (int row = 0; row < 2; row++)
                    sums[row][phase] = simd_dot2(sums[row][phase], (simd_i16)simd_load(&pairs[pair][x + phase * LANES]),
                                                 down[pair][row]);
        /* Byte 2 of each sum is the result; byte `phase` of the lane is its place. */
        for (int row = 0; row < 2; row++) {
            const simd_u32 s0 = (simd_u32)sums[row][0], s1 = (simd_u32)sums[row][1];
            const simd_u32 s2 = (simd_u32)sums[row][2], s3 = (simd_u32)sums[row][3];
            simd_store(result[row] + x,
                       (simd_u8)(s0 >> 16 | (s1 >> 8 & 0xff00) | (s2 & 0xff0000) | (s3 << 8 & 0xff000000)));
        }
    }
    for (int row = 0; row < minimum(2, bottom - y); row++)
        from_quads(result[row], out->channels, (uint8_t *)image_row(out, y + row) + start,
                   minimum(STRIP, out->width * out->channels - start));
}

static void blur_strip(const struct image *in, struct image *out, const struct tables *tables, int ksize, int start,
                       int top, int bottom)
{
    const int radius = ksize / 2, count = (ksize + 1) / 2;
    uint32_t ring[MAX_PAIRS][STRIP] __attribute__((aligned(64)));

    /* Turn n sums along rows y + radius and the one below; from y = top on they complete output rows y and y + 1. */
    for (int n = 0, y = top - 2 * radius; y < bottom; n++, y += 2) {
        make_pairs(in, tables, ksize, start, y + radius, ring[n % count]);
        if (y >= top)
            blur_down(ring, (n + 1) % count, tables->down, out, count, start, y, bottom);
    }
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int ksize = params->ksize, strips = (in->width * in->channels + STRIP - 1) / STRIP;
    const int bands = count_bands(in->height);
    uint16_t weights[BLUR_MAX_KSIZE];
    struct tables tables;

    blur_weights(params, weights);
    if (weights[ksize / 2] == 256) { /* all others are 0: the image itself, and 256 does not fit in 8 bits */
        image_copy(out, in);
        return STATUS_OK;
    }
    make_tables(weights, ksize, &tables);
#pragma omp parallel for collapse(2) schedule(runtime)
    for (int band = 0; band < bands; band++) {
        for (int strip = 0; strip < strips; strip++) {
            const int top = in->height * band / bands, bottom = in->height * (band + 1) / bands;
            blur_strip(in, out, &tables, ksize, strip * STRIP, top, bottom);
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur, .tunables = tunables)
