/*
 * Idea:     the loop waits for memory. Prefetches run 4 KiB ahead of the loads, and large results are stored past the
 *           caches, because a store into the cache first reads the line that it overwrites.
 * Changed:  the loop of a row prefetches, and stores in one of two ways; run() says which, by the result's size.
 * Expect:   1.3 times vectors, 3 to 5 times omp: a line of the result is written and no longer read before, which
 *           leaves 4 of 5 bytes. Loads are the limit: they come at some 12 GB/s a core however far ahead one asks, and
 *           3 bytes of 4 are loads, so half of the limit, which counts loads and stores alike, is what to hope for.
 *           Two to four times OpenCV.
 * Result:   1.6 times vectors, 7.8 times omp, 2.2 times OpenCV (results/cpu2/grayscale/grayscale_1920x1080.json), at
 *           86 % of the limit.
 * From:     cpu/vectors
 */
/* Try: make bench-grayscale VERSIONS=cpu/omp,cpu/vectors,cpu/simd,peer/opencv */
#include "common/simd/simd.h"
#include "common/algo/grayscale.h"

enum {
    LANES = SIMD_BYTES / 4,
    BLOCK = 3 * SIMD_BYTES, /* bytes of RGB that give a vector of gray */
    AHEAD = 4096,           /* bytes: a page, where the hardware's own prefetch ends; half or twice that does as well */
    STREAM_FROM = 1 << 20   /* bytes of a result that will have left the caches before anyone reads it */
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
