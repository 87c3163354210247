/*
 * Idea:     codes by vectors: a line's three vectors, from the west, the middle and the east, serve the lines above and below
 *           as well, and eight comparisons give the codes of 16 to 64 pixels.
 * Changed:  find_codes(), by columns of vectors instead of pixels.
 * Expect:   1.5 times border: codes cost half a cycle a pixel, and what is left is one increment, a load and a store, a
 *           pixel. In flat areas the code is 255 again and again, and each increment waits for the store of the one before.
 * Result:   missed: 1.07 times border (results/cpu2/lbp/lbp_4032x3024.json), probably because the compiler makes vectors of
 *           border's loops too; increments are what is left.
 * From:     cpu/border
 */
/* Try: make bench-lbp VERSIONS=cpu */
#include <string.h>

#include "common/algo/lbp.h"
#include "common/simd/simd.h"

/* A strip is STRIP pixels wide: patches of any size and vectors of any width fill it. Its pixels have a line of zeros
 * above and below, and MARGIN
 * bytes on either side. */
enum { STRIP = 64, MARGIN = 64, PITCH = STRIP + 2 * MARGIN };

struct strip {
    uint8_t pixels[LBP_MAX_PATCH + 2][PITCH] __attribute__((aligned(64)));
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

/* The strip's pixels, with zeros where the picture has none. */
static void load(struct strip *strip, const struct image *in, int patch, int left, int top)
{
    const int width = in->width - left < STRIP ? in->width - left : STRIP;

    for (int y = 0; y < patch; y++) {
        uint8_t *line = strip->pixels[y + 1] + MARGIN;
        memset(line, 0, STRIP);
        if (top + y < in->height)
            memcpy(line, (const uint8_t *)image_row(in, top + y) + left, (size_t)width);
    }
}

/* Bits shift to the left, and in comes whether the neighbour is at least as large. */
SIMD_INLINE simd_u8 add_bit(simd_u8 code, simd_u8 neighbour, simd_u8 pixel)
{
    return code + code - (simd_u8)(neighbour >= pixel);
}

static void find_codes(struct strip *strip, int patch)
{
    for (int x = 0; x < STRIP; x += SIMD_BYTES) {
        const simd_u8 west = simd_load(strip->west + x), east = simd_load(strip->east + x);
        simd_u8 above[3] = {{0}, {0}, {0}}, here[3], below[3] = {{0}, {0}, {0}}; /* west, middle, east */
        for (int y = 0; y <= patch; y++) {
            const uint8_t *line = strip->pixels[y + 1] + MARGIN + x;
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

static void count_strip(const struct strip *strip, int patch, int patches, uint16_t *bins)
{
    memset(bins, 0, LBP_BINS * (size_t)patches * sizeof *bins);
    for (int p = 0; p < patches; p++)
        for (int y = 0; y < patch; y++)
            for (int x = 0; x < patch; x++)
                bins[p * LBP_BINS + strip->codes[y][p * patch + x]]++;
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
                load(&strip, in, patch, column * patch, row * patch);
                find_codes(&strip, patch);
                count_strip(&strip, patch, patches, lbp_bins(out, row, column));
            }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lbp, .instruction_set = SIMD_NAME)
