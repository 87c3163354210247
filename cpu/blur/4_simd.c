/*
 * Problem:  The sums along rows do not fit L1, so they go through memory. Loops do not unroll, as
 *           ksize is a variable.
 * Idea:     Cache blocking: a thread walks down a strip; its latest rows of sums stay in a ring
 *           buffer in L1. ksize and channels are constants, so loops unroll. Rows are prefetched.
 * Expect:   1.5 times as fast (4 times OpenCV's speed): memory moves 2 bytes per sample, not 6.
 * Result:   1.5 times as fast as cpu/dot_product with 16 threads and AVX-512, 552 us
 *           (results/h100/blur/blur_3840x2160.json), as predicted.
 * Run:      make diff-blur A=cpu/dot_product B=cpu/simd SIZE=3840x2160
 */
#include <omp.h>
#include <string.h>

#include "cpu/blur/shared/quads.h"

enum {
    STRIP = 384, /* samples of a row that one step works on: whole vectors */
    MARGIN = 64, /* whole vectors; at least 15 pixels of 3 channels */
    AHEAD = 4,   /* rows to prefetch: 384 bytes of a row are too short for the hardware's prefetch */
    LANES = SIMD_BYTES / 4,
    MIN_BAND = 32 /* fewer rows do not pay for a thread; each band blurs ksize - 1 halo rows along x again */
};

/* With 256 rows the TLB still holds the pages when the next strip reads them: 3840x2160 gains 25 %. */
static int band_height = 256, schedule = omp_sched_dynamic;
static const int band_heights[] = {32, 64, 128, 256, 512, 1024, 0};
static const int schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, 0};
static const char *const schedule_words[] = {"static", "dynamic", "guided"};
static struct tunable tunables[] = {
    {"band_height", &band_height, band_heights, "most rows of a band", NULL, 0},
    {"schedule", &schedule, schedules, "how OpenMP distributes bands and strips", schedule_words, 0},
    {0}};

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

struct lines {
    uint8_t copy[2 * MARGIN + STRIP + SIMD_PERMUTE_BYTES] __attribute__((aligned(64)));
    uint8_t quads[2][3 * MARGIN + STRIP + SIMD_PERMUTE_BYTES] __attribute__((aligned(64)));
};

/* Copies the strip at byte `start` of row y, with its halo, to a line as quads of sample - 128. */
SIMD_INLINE void fetch(const struct image *in, int channels, int y, int start, int halo, uint8_t *copied, uint8_t *line)
{
    const int row_bytes = in->width * channels, end = minimum(start + STRIP + MARGIN, row_bytes);
    const uint8_t *row = image_row(in, y < 0 ? 0 : minimum(y, in->height - 1));
    const uint8_t *ahead = image_row(in, minimum(y < 0 ? AHEAD : y + AHEAD, in->height - 1));
    const uint8_t flip = channels == 1 ? 0x80 : 0;
    uint8_t *copy = channels == 1 ? line : copied;

    if (channels == 1 || start == 0 || start + STRIP + MARGIN + SIMD_PERMUTE_BYTES > row_bytes) {
        for (int i = start ? start - MARGIN : 0; i < end; i += SIMD_BYTES) {
            __builtin_prefetch(ahead + i);
            simd_store(copy + i - start, simd_load(row + i) ^ flip);
        }
        for (int i = 0; start == 0 && i < halo; i++)
            copy[i - halo] = row[i % channels] ^ flip;
        for (int i = 0; end == row_bytes && i < halo; i++)
            copy[end - start + i] = row[end - channels + i % channels] ^ flip;
    }
    for (int i = -halo; channels == 3 && i < STRIP + halo; i += GROUP) {
        /* Only groups that the border cuts come from the copy: to load what several stores wrote is slow. */
        const bool inside = start + i >= 0 && start + i + SIMD_PERMUTE_BYTES <= row_bytes;
        const simd_bytes group = permuted(inside ? row + start + i : copy + i, into_quads) ^ 0x80;
        __builtin_prefetch(ahead + start + i);
        memcpy(line + i, &group, sizeof group);
    }
}

/* Pairs of two lines, from the leftmost tap of the strip's first sample on; a vector of them holds one phase. */
SIMD_INLINE void blur_across(const struct tables *tables, const uint8_t *upper, const uint8_t *lower, int ksize,
                             int channels, int bytes, uint32_t *pairs)
{
    for (int x = 0; x < bytes; x += SIMD_BYTES) {
        simd_i32 sums[2][4] = {0};
#pragma GCC unroll 9
        for (int quad = 0; quad < (ksize + 6) / 4; quad++) {
            const int offset = x + quad * 4 * channels;
            const simd_u8 samples[2] = {simd_load(upper + offset), simd_load(lower + offset)};
#pragma GCC unroll 4
            for (int phase = 0; phase < 4; phase++)
                for (int row = 0; 4 * quad < ksize + phase && row < 2; row++) /* else right of the last tap */
                    sums[row][phase] = simd_dot4(sums[row][phase], tables->across[quad][phase], samples[row]);
        }
#pragma GCC unroll 4
        for (int phase = 0; phase < 4; phase++) {
            simd_i32 low = simd_dot4_total(sums[0][phase]), high = simd_dot4_total(sums[1][phase]);
            simd_store(&pairs[x + phase * LANES], (simd_u8)((low & 0xffff) | high << 16));
        }
    }
}

/* A pair is two 16-bit sums in a 32-bit lane: row y in the low half, row y + 1 in the high half. */
SIMD_INLINE void fetch_two(const struct image *in, int ksize, int channels, int start, int y, struct lines *lines)
{
    for (int row = 0; row < 2; row++)
        fetch(in, channels, y + row, start, ksize / 2 * channels, lines->copy + MARGIN, lines->quads[row] + MARGIN);
}

/* Rows y and y + 1 of the result, as far as they lie above `bottom`, from the ring, whose oldest pair is `oldest`. */
SIMD_INLINE void blur_down(uint32_t ring[][STRIP], int oldest, const simd_i16 down[][2], struct image *out, int count,
                           int channels, int start, int y, int bottom, int bytes)
{
    const simd_i32 bias = (simd_i32)simd_splat((32768 << BLUR_WEIGHT_BITS) + (1 << (2 * BLUR_WEIGHT_BITS - 1)));
    uint8_t result[2][STRIP + SIMD_PERMUTE_BYTES];
    const uint32_t *pairs[MAX_PAIRS];

    for (int pair = 0; pair < count; pair++)
        pairs[pair] = ring[(oldest + pair) % count];
    for (int x = 0; x < bytes; x += SIMD_BYTES) {
        simd_i32 sums[2][4] = {{bias, bias, bias, bias}, {bias, bias, bias, bias}};
#pragma GCC unroll 16
        for (int pair = 0; pair < count; pair++)
#pragma GCC unroll 4
            for (int phase = 0; phase < 4; phase++)
                for (int row = 0; row < 2; row++)
                    sums[row][phase] = simd_dot2(sums[row][phase], (simd_i16)simd_load(&pairs[pair][x + phase * LANES]),
                                                 down[pair][row]);
        /* Byte 2 of each sum is the result; its place is byte `phase` of the lane. */
        for (int row = 0; row < 2; row++) {
            const simd_u32 s0 = (simd_u32)sums[row][0], s1 = (simd_u32)sums[row][1];
            const simd_u32 s2 = (simd_u32)sums[row][2], s3 = (simd_u32)sums[row][3];
            simd_store(result[row] + x,
                       (simd_u8)(s0 >> 16 | (s1 >> 8 & 0xff00) | (s2 & 0xff0000) | (s3 << 8 & 0xff000000)));
        }
    }
    for (int row = 0; row < minimum(2, bottom - y); row++)
        from_quads(result[row], channels, (uint8_t *)image_row(out, y + row) + start,
                   minimum(STRIP, out->width * channels - start));
}

SIMD_INLINE void blur_strip(const struct image *in, struct image *out, const struct tables *tables, int ksize,
                            int channels, int start, int top, int bottom)
{
    const int radius = ksize / 2, halo = radius * channels, count = (ksize + 1) / 2, group = 4 * channels;
    const int bytes = minimum(STRIP, (in->width * channels - start + group - 1) / group * group);
    struct lines lines;
    uint8_t *const upper = lines.quads[0] + MARGIN, *const lower = lines.quads[1] + MARGIN;
    uint32_t ring[MAX_PAIRS][STRIP] __attribute__((aligned(64)));

    fetch_two(in, ksize, channels, start, top - radius, &lines);
    /* Step n sums along rows y + radius and y + radius + 1; from y = top on these complete output rows y and y + 1. */
    for (int n = 0, y = top - 2 * radius; y < bottom; n++, y += 2) {
        blur_across(tables, upper - halo, lower - halo, ksize, channels, bytes, ring[n % count]);
        fetch_two(in, ksize, channels, start, y + radius + 2, &lines);
        if (y >= top)
            blur_down(ring, (n + 1) % count, tables->down, out, count, channels, start, y, bottom, bytes);
    }
}

/* One band for each thread within the two limits. Sets the schedule, too. */
static int count_bands(int height)
{
    const int most = (height + MIN_BAND - 1) / MIN_BAND, least = (height + band_height - 1) / band_height;
    const int threads = omp_get_max_threads();

    omp_set_schedule((omp_sched_t)schedule, 0);
    return threads < least ? least : threads < most ? threads : most;
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
            if (ksize == 15 && in->channels == 1) /* constants, so that loops unroll and weights stay in registers */
                blur_strip(in, out, &tables, 15, 1, strip * STRIP, top, bottom);
            else if (ksize == 15)
                blur_strip(in, out, &tables, 15, 3, strip * STRIP, top, bottom);
            else if (in->channels == 1)
                blur_strip(in, out, &tables, ksize, 1, strip * STRIP, top, bottom);
            else
                blur_strip(in, out, &tables, ksize, 3, strip * STRIP, top, bottom);
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur, .instruction_set = SIMD_NAME, .tunables = tunables)
