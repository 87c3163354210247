/*
 * Problem:  14 instructions per pixel; then memory limits, as a store first reads its cache line.
 * Idea:     A 32-bit lane has the bytes R G B G of a pixel. Two dot-product instructions make its
 *           weighted sum, one with the high bytes of the weights, one with the low bytes. Prefetch
 *           one page ahead, and streaming stores where the result is large, save time at memory.
 * Expect:   3 to 5 times as fast: 50 instructions for 64 pixels with AVX-512, then bandwidth-bound.
 * Result:   4.7 times as fast as cpu/omp with 16 threads and AVX-512, 306 us
 *           (results/h100/grayscale/grayscale_3840x2160.json), 57 % of the copy rate.
 * Run:      make diff-grayscale A=cpu/omp B=cpu/simd
 */
#include "common/algo/grayscale.h"
#include "common/simd/simd.h"

enum {
    LANES = SIMD_BYTES / 4,
    BLOCK = 3 * SIMD_BYTES, /* bytes of RGB for a vector of gray */
    AHEAD = 4096,           /* bytes: a page, where the hardware's prefetch ends */
    STREAM_FROM = 1 << 20   /* bytes: a larger result leaves the caches before it is read */
};

struct weights {
    simd_u8 high, low;
};

static simd_u8 quad(int r, int g, int b)
{
    return (simd_u8)simd_splat((uint32_t)r | (uint32_t)g << 8 | (uint32_t)b << 16 | (uint32_t)g << 24);
}

/* LANES pixels, one in each 32-bit lane:
 *
 *     RGB in memory        r0 g0 b0 r1 g1 b1 ...
 *     lane i of pixels     ri gi bi gi, each - 128, because dot4 needs signed bytes on one side
 *     lane i of the sum    high * 256 + low = 2 (R ri + G gi + B bi): bits 16 to 23 are the gray
 *
 * The weight of G is split in two, because a dot4's weights may add up to no more than 256. The doubled weights add up
 * to 2^16, so `bias` adds 128 * 2^16 for what was subtracted from the samples, and a half for rounding. */
SIMD_INLINE simd_u32 gray_lanes(const uint8_t *rgb, const struct weights *weights)
{
    const simd_u8 pixels = simd_load_rgbg(rgb) ^ 0x80;
    const simd_i32 zero = {0}, bias = (simd_i32)simd_splat((128 << 16) + (1 << 15));
    const simd_i32 high = simd_dot4_total(simd_dot4(zero, weights->high, pixels));
    const simd_i32 low = simd_dot4_total(simd_dot4(zero, weights->low, pixels));

    return (simd_u32)(high * 256 + (low + bias)) >> 16;
}

/* Reads LANES bytes behind its BLOCK, too. */
SIMD_INLINE simd_u8 gray_vector(const uint8_t *rgb, const struct weights *weights)
{
    return simd_pack(gray_lanes(rgb, weights), gray_lanes(rgb + 3 * LANES, weights),
                     gray_lanes(rgb + 6 * LANES, weights), gray_lanes(rgb + 9 * LANES, weights));
}

SIMD_INLINE void gray_row(const uint8_t *rgb, uint8_t *gray, int width, const struct weights *weights, int stream)
{
    int x = 0;

    for (; x + SIMD_BYTES + LANES <= width; x += SIMD_BYTES) {
        for (int i = 0; i < BLOCK; i += 64)
            __builtin_prefetch(rgb + 3 * x + AHEAD + i);
        if (stream)
            simd_stream(gray + x, gray_vector(rgb + 3 * x, weights));
        else
            simd_store(gray + x, gray_vector(rgb + 3 * x, weights));
    }
    for (; x < width; x += SIMD_BYTES) { /* from a copy: nothing may be read behind the row */
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
    const int aligned = ((uintptr_t)out->data | out->stride) % SIMD_BYTES == 0;
    const int stream = aligned && image_pixel_bytes(out) >= STREAM_FROM;

    (void)params;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int y = 0; y < out->height; y++) {
            if (stream)
                gray_row(image_row(in, y), image_row(out, y), out->width, &weights, 1);
            else
                gray_row(image_row(in, y), image_row(out, y), out->width, &weights, 0);
        }
        simd_stream_end();
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale, .instruction_set = SIMD_NAME)
