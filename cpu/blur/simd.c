/*
 * Idea:     blur along x, then along y, in 8-bit and 16-bit integers, a vector at a time. Four neighbouring samples of
 *           a channel are a quad, one 32-bit lane: one dot4 instruction multiplies and adds four taps in every lane,
 *           and the outputs at the four positions in a quad (phases) differ only in their weights, so nothing is
 *           shuffled. The sums of two rows share a lane, 16 bits each: one dot2 takes two taps along y. They wait in a
 *           ring of row pairs, for a strip of the image so narrow that the ring stays in the first-level cache.
 * Changed:  another algorithm and data flow than omp, the same integers. Samples are taken as sample - 128, so that
 *           dot4 may take the weights (up to 254) as unsigned and the sums, -32768..32512, fit in 16 bits.
 * Expect:   ksize 15 takes 50 dot instructions and 10 others for 64 samples, 30 cycles at two a cycle with AVX-512
 *           VNNI, where serial spends some 13 instructions on each of 225 taps of each sample: over 1000 times faster on
 *           two cores, and 4 times OpenCV. Filling lines and writing rows out adds a fifth; the prefetch hides memory.
 *           RGB costs half as much again a sample, for turning it into quads and back.
 */
#include <omp.h>

#include "common/algo/blur.h"
#include "common/simd/simd.h"

enum {
    STRIP = 384,   /* bytes of a row that go from the top of a band to its bottom: whole vectors, whole groups */
    MARGIN = 64,   /* bytes kept beside a strip, whole vectors: 15 pixels of 3 channels and a quad begun too early */
    AHEAD = 4,     /* rows to prefetch; runs of 384 bytes are too short for the hardware to see them coming */
    MIN_BAND = 32, /* rows that make a thread worth its start; each band blurs ksize - 1 rows along x once more */
    BLOCKS = STRIP / SIMD_BYTES,
    MAX_QUADS = (BLUR_MAX_KSIZE + 6) / 4,
    MAX_PAIRS = (BLUR_MAX_KSIZE + 1) / 2,
    GROUP = SIMD_PERMUTE_BYTES * 3 / 4 /* bytes of RGB that one permutation turns into quads: R0-3 G0-3 B0-3 R4-7 ... */
};

/* Of 256 rows the TLB still knows the pages when the next strip comes by: 3840x2160 gains 25 %. */
static int band_height = 256, schedule = omp_sched_dynamic;
static const int band_heights[] = {32, 64, 128, 256, 512, 1024, 0};
static const int schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, 0};
static const char *const schedule_words[] = {"static", "dynamic", "guided"};
static struct tunable tunables[] = {
    {"band_height", &band_height, band_heights, "most rows that a thread takes on at once", NULL, 0},
    {"schedule", &schedule, schedules, "how OpenMP shares bands and strips out", schedule_words, 0},
    {0}};

struct tables {
    simd_u8 across[MAX_QUADS][4]; /* [quad][phase]: its four weights for the output at 4n + phase */
    simd_i16 down[MAX_PAIRS][2];  /* [pair][row]: its two weights for the upper and the lower of two output rows */
    simd_bytes to_quads, from_quads;
};

struct scratch {
    uint8_t copy[MARGIN + STRIP + MARGIN + SIMD_PERMUTE_BYTES] __attribute__((aligned(64)));
    uint8_t lines[2][MARGIN + STRIP + 2 * MARGIN + SIMD_PERMUTE_BYTES] __attribute__((aligned(64)));
    simd_i16 ring[MAX_PAIRS][BLOCKS][4]; /* [pair of rows][block][phase]: sums along x, upper row in the low halves */
    uint8_t result[2][STRIP + SIMD_PERMUTE_BYTES] __attribute__((aligned(64)));
};

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

static void make_tables(const uint16_t *weights, int ksize, struct tables *tables)
{
    for (int i = 0; i < MAX_QUADS * 4 * SIMD_BYTES; i++) {
        int quad = i / SIMD_BYTES / 4, phase = i / SIMD_BYTES % 4, tap = 4 * quad + i % 4 - phase;
        tables->across[quad][phase][i % SIMD_BYTES] = (uint8_t)(tap >= 0 && tap < ksize ? weights[tap] : 0);
    }
    for (int i = 0; i < MAX_PAIRS * 2 * (SIMD_BYTES / 2); i++) {
        int pair = i / SIMD_BYTES, row = i / (SIMD_BYTES / 2) % 2, tap = 2 * pair + i % 2 - row;
        tables->down[pair][row][i % (SIMD_BYTES / 2)] = (int16_t)(tap >= 0 && tap < ksize ? weights[tap] : 0);
    }
    for (int i = 0; i < SIMD_PERMUTE_BYTES; i++) {
        int from = i < GROUP ? i / 12 * 12 + i % 4 * 3 + i % 12 / 4 : i;
        tables->to_quads[i] = (uint8_t)from;
        tables->from_quads[from] = (uint8_t)i;
    }
}

SIMD_INLINE simd_bytes permuted(const uint8_t *from, simd_bytes order)
{
    simd_bytes bytes;

    memcpy(&bytes, from, sizeof bytes);
    return simd_permute(bytes, order);
}

/* Brings the strip at byte `start` of row y, and what lies beside it, into a line as quads of sample - 128. */
SIMD_INLINE void fetch(const struct image *in, const struct tables *tables, int y, int start, int halo, int channels,
                       struct scratch *scratch, uint8_t *line)
{
    const int row_bytes = in->width * channels, end = minimum(start + STRIP + MARGIN, row_bytes);
    const uint8_t *row = image_row(in, y < 0 ? 0 : minimum(y, in->height - 1));
    const uint8_t *ahead = image_row(in, minimum(y < 0 ? AHEAD : y + AHEAD, in->height - 1));
    const uint8_t flip = channels == 1 ? 0x80 : 0;
    uint8_t *copy = channels == 1 ? line : scratch->copy + MARGIN;

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
        /* Only groups that the border cuts come from the copy: what was just stored in parts is slow to load whole. */
        const bool inside = start + i >= 0 && start + i + SIMD_PERMUTE_BYTES <= row_bytes;
        const simd_bytes group = permuted(inside ? row + start + i : copy + i, tables->to_quads) ^ 0x80;
        __builtin_prefetch(ahead + start + i);
        memcpy(line + i, &group, sizeof group);
    }
}

/* Two lines, from the leftmost tap of the strip's first sample on, into one pair of the ring. */
SIMD_INLINE void blur_across(const struct tables *tables, const uint8_t *upper, const uint8_t *lower, int ksize,
                             int channels, int blocks, simd_i16 pair[BLOCKS][4])
{
    for (int block = 0; block < blocks; block++) {
        simd_i32 sums[2][4] = {0};
#pragma GCC unroll 9
        for (int quad = 0; quad < (ksize + 6) / 4; quad++) {
            const int offset = block * SIMD_BYTES + quad * 4 * channels;
            const simd_u8 samples[2] = {simd_load(upper + offset), simd_load(lower + offset)};
#pragma GCC unroll 4
            for (int phase = 0; phase < 4; phase++) {
                if (4 * quad >= ksize + phase) /* the quad lies right of the last tap */
                    continue;
                sums[0][phase] = simd_dot4(sums[0][phase], tables->across[quad][phase], samples[0]);
                sums[1][phase] = simd_dot4(sums[1][phase], tables->across[quad][phase], samples[1]);
            }
        }
#pragma GCC unroll 4
        for (int phase = 0; phase < 4; phase++) {
            simd_i32 low = simd_dot4_total(sums[0][phase]), high = simd_dot4_total(sums[1][phase]);
            pair[block][phase] = (simd_i16)((low & 0xffff) | high << 16);
        }
    }
}

/* The ring, whose oldest pair is `oldest`, into two lines of results. */
SIMD_INLINE void blur_down(const struct tables *tables, struct scratch *scratch, int ksize, int oldest, int blocks)
{
    /* 128 * 65536 for the 128 that was taken from each sample, and the half that rounds. */
    const simd_i32 bias = (simd_i32)simd_splat((128 << 16) + (1 << 15));
    const int count = (ksize + 1) / 2;
    const simd_i16(*pairs[MAX_PAIRS])[4];

    for (int pair = 0; pair < count; pair++)
        pairs[pair] = scratch->ring[(oldest + pair) % count];
    for (int block = 0; block < blocks; block++) {
        simd_i32 sums[2][4] = {{bias, bias, bias, bias}, {bias, bias, bias, bias}};
#pragma GCC unroll 16
        for (int pair = 0; pair < count; pair++)
#pragma GCC unroll 4
            for (int phase = 0; phase < 4; phase++) {
                sums[0][phase] = simd_dot2(sums[0][phase], pairs[pair][block][phase], tables->down[pair][0]);
                sums[1][phase] = simd_dot2(sums[1][phase], pairs[pair][block][phase], tables->down[pair][1]);
            }
        /* Byte 2 of each sum is the result; byte `phase` of the lane is its place. */
        for (int row = 0; row < 2; row++) {
            const simd_u32 s0 = (simd_u32)sums[row][0], s1 = (simd_u32)sums[row][1];
            const simd_u32 s2 = (simd_u32)sums[row][2], s3 = (simd_u32)sums[row][3];
            simd_store(scratch->result[row] + block * SIMD_BYTES,
                       (simd_u8)(s0 >> 16 | (s1 >> 8 & 0xff00) | (s2 & 0xff0000) | (s3 << 8 & 0xff000000)));
        }
    }
}

/* Writes exactly `bytes` bytes. What a permuted vector has beyond its group is overwritten by the next one. */
SIMD_INLINE void put(const uint8_t *result, const struct tables *tables, int channels, uint8_t *to, int bytes)
{
    int i = 0;

    for (; channels == 1 && i + SIMD_BYTES <= bytes; i += SIMD_BYTES)
        simd_store(to + i, simd_load(result + i));
    for (; channels == 3 && i + SIMD_PERMUTE_BYTES <= bytes; i += GROUP) {
        const simd_bytes group = permuted(result + i, tables->from_quads);
        memcpy(to + i, &group, sizeof group);
    }
    for (; channels == 3 && i < bytes; i += GROUP) {
        const simd_bytes group = permuted(result + i, tables->from_quads);
        if (i + GROUP <= bytes) /* a constant size becomes two stores, any other a call */
            memcpy(to + i, &group, GROUP);
        else
            memcpy(to + i, &group, (size_t)(bytes - i));
    }
    if (i < bytes)
        memcpy(to + i, result + i, (size_t)(bytes - i));
}

SIMD_INLINE void blur_strip(const struct image *in, struct image *out, const struct tables *tables, int ksize,
                            int channels, int start, int top, int bottom)
{
    struct scratch scratch;
    uint8_t *upper = scratch.lines[0] + MARGIN, *lower = scratch.lines[1] + MARGIN;
    const int radius = ksize / 2, halo = radius * channels, count = (ksize + 1) / 2;
    const int bytes = minimum(STRIP, in->width * channels - start);
    const int blocks = ((bytes + 4 * channels - 1) / (4 * channels) * (4 * channels) + SIMD_BYTES - 1) / SIMD_BYTES;

    fetch(in, tables, top - radius, start, halo, channels, &scratch, upper);
    fetch(in, tables, top - radius + 1, start, halo, channels, &scratch, lower);
    /* Turn n blurs rows y + radius and the one below along x; from y = top on they complete output rows y and y + 1. */
    for (int n = 0, y = top - 2 * radius; y < bottom; n++, y += 2) {
        blur_across(tables, upper - halo, lower - halo, ksize, channels, blocks, scratch.ring[n % count]);
        fetch(in, tables, y + radius + 2, start, halo, channels, &scratch, upper);
        fetch(in, tables, y + radius + 3, start, halo, channels, &scratch, lower);
        if (y < top)
            continue;
        blur_down(tables, &scratch, ksize, (n + 1) % count, blocks);
        for (int row = 0; row < minimum(2, bottom - y); row++)
            put(scratch.result[row], tables, channels, (uint8_t *)image_row(out, y + row) + start, bytes);
    }
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    const int ksize = params->ksize, strips = (in->width * in->channels + STRIP - 1) / STRIP;
    const int most = (in->height + MIN_BAND - 1) / MIN_BAND, least = (in->height + band_height - 1) / band_height;
    const int threads = omp_get_max_threads(), bands = threads < least ? least : minimum(threads, most);
    uint16_t weights[BLUR_MAX_KSIZE];
    struct tables tables;

    blur_weights(params, weights);
    if (weights[ksize / 2] == 256) { /* all others are 0: the image itself, and 256 does not fit in 8 bits */
        image_copy(out, in);
        return STATUS_OK;
    }
    make_tables(weights, ksize, &tables);
    omp_set_schedule((omp_sched_t)schedule, 0);
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
