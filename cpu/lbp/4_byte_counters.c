/*
 * Problem:  A quarter of cpu/simd's time is the copy; a strip clears and adds up 4 KB of counters.
 * Idea:     Counters are bytes, half of the memory; 256 equal codes overflow one, so a 0 where that
 *           code occurs means 256. One load brings 8 codes. Pixels are read in the picture, without
 *           a copy but at its edges.
 * Expect:   2 times as fast as cpu/simd.
 * Result:   1.18 times as fast as cpu/simd with 16 threads, 1.06 ms
 *           (results/h100/lbp/lbp_4032x3024_climb.json); the reason is not known.
 * Run:      make diff-lbp A=cpu/simd B=cpu/byte_counters
 */
#include <string.h>

#include "common/algo/lbp.h"
#include "common/simd/simd.h"

/*
 * A strip of patches side by side, STRIP pixels wide. Inside the picture its pixels are read there, and registers hold
 * the zeros above and below; at the picture's edges they are copied, with MARGIN bytes left and right.
 *
 * CHAINS eighths of it have counters of their own.
 */
enum { STRIP = 64, MARGIN = 64, PITCH = STRIP + 2 * MARGIN, CHAINS = 8 };

struct strip {
    uint8_t pixels[LBP_MAX_PATCH][PITCH] __attribute__((aligned(64)));
    uint8_t codes[LBP_MAX_PATCH][STRIP] __attribute__((aligned(64)));
    uint8_t west[STRIP], east[STRIP]; /* 0 where the neighbour on that side is in another patch, else 255 */
};

static void begin(struct strip *strip, int patch)
{
    memset(strip, 0, sizeof *strip);
    for (int x = 0; x < STRIP; x++) {
        strip->west[x] = x % patch == 0 ? 0 : 255;
        strip->east[x] = x % patch == patch - 1 ? 0 : 255;
    }
}

/* Copies the strip's pixels; zeros where the picture has none. */
static void load(struct strip *strip, const struct image *in, int patch, int left, int top)
{
    const int width = in->width - left < STRIP ? in->width - left : STRIP;

    for (int y = 0; y < patch; y++) {
        uint8_t *line = strip->pixels[y] + MARGIN;
        memset(line, 0, STRIP);
        if (top + y < in->height)
            memcpy(line, (const uint8_t *)image_row(in, top + y) + left, (size_t)width);
    }
}

/* Shifts the codes left; the new bit says whether the neighbour is at least as large. */
SIMD_INLINE simd_u8 add_bit(simd_u8 code, simd_u8 neighbour, simd_u8 pixel)
{
    return code + code - (simd_u8)(neighbour >= pixel);
}

/* Goes down a column of vectors: a line's three vectors serve as `above`, `here` and `below` in turn. Lines begin at
 * `from`, `pitch` bytes apart. */
static void find_codes(struct strip *strip, int patch, const uint8_t *from, size_t pitch)
{
    for (int x = 0; x < STRIP; x += SIMD_BYTES) {
        const simd_u8 west = simd_load(strip->west + x), east = simd_load(strip->east + x);
        simd_u8 above[3] = {{0}, {0}, {0}}, here[3], below[3] = {{0}, {0}, {0}}; /* west, middle, east */
        for (int y = 0; y <= patch; y++) {
            const uint8_t *line = from + (size_t)y * pitch + x;
            memcpy(here, below, sizeof here);
            below[0] = y < patch ? simd_load(line - 1) & west : (simd_u8){0};
            below[1] = y < patch ? simd_load(line) : (simd_u8){0};
            below[2] = y < patch ? simd_load(line + 1) & east : (simd_u8){0};
            if (y > 0) {
                simd_u8 code = add_bit((simd_u8){0}, above[0], here[1]);
                code = add_bit(add_bit(code, above[1], here[1]), above[2], here[1]);
                code = add_bit(add_bit(code, here[2], here[1]), below[2], here[1]);
                code = add_bit(add_bit(code, below[1], here[1]), below[0], here[1]);
                simd_store(strip->codes[y - 1] + x, add_bit(code, here[0], here[1]));
            }
            memcpy(above, here, sizeof above);
        }
    }
}

/* Eight increments one after the other go to the counters of eight eighths: none waits for the one before it. */
static void count_strip(const struct strip *strip, int patch, int patches, uint16_t *bins)
{
    uint8_t counters[CHAINS][LBP_BINS] __attribute__((aligned(64)));
    const int parts = patch * CHAINS / STRIP; /* of one patch */

    memset(counters, 0, sizeof counters);
    for (int y = 0; y < patch; y++) {
        uint64_t codes[CHAINS]; /* 8 of each eighth */
        memcpy(codes, strip->codes[y], sizeof codes);
        for (int shift = 0; shift < 64; shift += 8)
            for (int i = 0; i < CHAINS; i++)
                counters[i][codes[i] >> shift & 255]++;
    }
    for (int p = 0; p < patches; p++)
        for (int i = 0; i < LBP_BINS; i += SIMD_BYTES / 2) {
            simd_i16 sum = simd_load_wide(&counters[p * parts][i]);
            for (int part = 1; part < parts; part++)
                sum += simd_load_wide(&counters[p * parts + part][i]);
            simd_stream(bins + p * LBP_BINS + i, (simd_u8)sum);
        }
    /* 256 equal codes overflow a byte: then the counter of an eighth's first code is 0. */
    for (int i = 0; i < patches * parts; i++) {
        const int code = strip->codes[0][STRIP / CHAINS * i];
        if (counters[i][code] == 0)
            bins[i / parts * LBP_BINS + code] += 256;
    }
}

static enum status run(const struct image *in, struct image *out, const struct lbp_params *params)
{
    const int patch = lbp_patch(params), wide = STRIP / patch;

#pragma omp parallel
    {
        struct strip strip;
        begin(&strip, patch);
#pragma omp for schedule(static)
        for (int row = 0; row < out->height; row++)
            for (int column = 0; column < out->width; column += wide) {
                const int patches = out->width - column < wide ? out->width - column : wide;
                const int left = column * patch, top = row * patch;
                if (left > 0 && left + STRIP < in->width && top + patch <= in->height) {
                    const uint8_t *from = (const uint8_t *)image_row(in, top) + left;
                    for (int y = 0; y < patch; y++)
                        __builtin_prefetch(from + (size_t)y * in->stride + 2 * STRIP);
                    find_codes(&strip, patch, from, in->stride);
                } else {
                    load(&strip, in, patch, left, top);
                    find_codes(&strip, patch, strip.pixels[0] + MARGIN, PITCH);
                }
                count_strip(&strip, patch, patches, lbp_bins(out, row, column));
            }
        simd_stream_end();
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lbp, .instruction_set = SIMD_NAME)
