/*
 * Idea:     a pixel as R G B G in a 32-bit lane and its gray by two dot4 instructions: one with the high bytes of the
 *           weights, one with the low bytes. With twice the weights the result is byte 2 of the lane, and G's, 38470,
 *           split in two, gives bytes that add up to no more than 256, as dot4 asks.
 * Changed:  the loop takes a vector of pixels at a time; samples are taken as sample - 128, since dot4 wants one side
 *           signed. The end of a row is computed in a copy, since nothing may be read behind it.
 * Expect:   3 times omp: that takes 14 instructions a pixel, this 50 for 64 pixels with AVX-512. Then memory is the
 *           limit, and every line of the result is read before it is overwritten.
 * Result:   4.8 times omp (results/cpu2/grayscale/grayscale_1920x1080.json), not 3, probably because the 8 MB of this
 *           picture stay in the third-level cache, so memory is not yet the limit.
 */
/* Try: make bench-grayscale VERSIONS=cpu/omp,cpu/vectors,cpu/simd */
#include "common/algo/grayscale.h"
#include "common/simd/simd.h"

enum {
    LANES = SIMD_BYTES / 4,
    BLOCK = 3 * SIMD_BYTES /* bytes of RGB that give a vector of gray */
};

struct weights {
    simd_u8 high, low;
};

static simd_u8 quad(int r, int g, int b)
{
    return (simd_u8)simd_splat((uint32_t)r | (uint32_t)g << 8 | (uint32_t)b << 16 | (uint32_t)g << 24);
}

/* LANES pixels, a lane each. 128 * 65536 is for the 128 that was taken from each sample, and the half rounds. */
SIMD_INLINE simd_u32 gray_lanes(const uint8_t *rgb, const struct weights *weights)
{
    const simd_u8 pixels = simd_load_rgbg(rgb) ^ 0x80;
    const simd_i32 zero = {0}, bias = (simd_i32)simd_splat((128 << 16) + (1 << 15));
    const simd_i32 high = simd_dot4_total(simd_dot4(zero, weights->high, pixels));
    const simd_i32 low = simd_dot4_total(simd_dot4(zero, weights->low, pixels));

    return (simd_u32)(high * 256 + (low + bias)) >> 16;
}

/* Reads LANES bytes more than its BLOCK. */
SIMD_INLINE simd_u8 gray_vector(const uint8_t *rgb, const struct weights *weights)
{
    return simd_pack(gray_lanes(rgb, weights), gray_lanes(rgb + 3 * LANES, weights),
                     gray_lanes(rgb + 6 * LANES, weights), gray_lanes(rgb + 9 * LANES, weights));
}

SIMD_INLINE void gray_row(const uint8_t *rgb, uint8_t *gray, int width, const struct weights *weights)
{
    int x = 0;

    for (; x + SIMD_BYTES + LANES <= width; x += SIMD_BYTES)
        simd_store(gray + x, gray_vector(rgb + 3 * x, weights));
    for (; x < width; x += SIMD_BYTES) { /* from a copy, for beyond the row there may be nothing to read */
        uint8_t copy[BLOCK + SIMD_BYTES] = {0};
        for (int i = 0; i < BLOCK && 3 * x + i < 3 * width; i += SIMD_BYTES)
            simd_store(copy + i, simd_load(rgb + 3 * x + i));
        const simd_u8 last = gray_vector(copy, weights);
        if (x + SIMD_BYTES <= width) /* a constant size becomes one store, any other a call */
            simd_store(gray + x, last);
        else
            memcpy(gray + x, &last, (size_t)(width - x));
    }
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    const int r = 2 * GRAYSCALE_RED, g = GRAYSCALE_GREEN, b = 2 * GRAYSCALE_BLUE;
    const struct weights weights = {quad(r >> 8, g >> 8, b >> 8), quad(r & 255, g & 255, b & 255)};

    (void)params;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < out->height; y++)
        gray_row(image_row(in, y), image_row(out, y), out->width, &weights);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale, .instruction_set = SIMD_NAME)
