/*
 * pairs.h: whole numbers as pairs of pixels, whose samples of a band are the halves of a lane of 32 bits, and the matrix from sums of
 * their products.
 */
#ifndef RUNGS_CORRELATION_STEPS_PAIRS_H
#define RUNGS_CORRELATION_STEPS_PAIRS_H

#include <stdlib.h>
#include <string.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

/* A panel: bytes, or u16 samples less 32768, of at most PANEL pairs of pixels, as many as stay in a first-level cache. */
enum { PANEL = CORRELATION_RUN / 2, PANEL_BYTES = 24 << 10 };
enum { LINE = 64 /* bytes of a cache line */ };

/* A panel with room for a copy of its pixels behind it, or NULL. */
static int32_t *pairs_panel(int stride)
{
    const size_t bytes = ((size_t)PANEL * 4 + (CORRELATION_RUN + 1) * 2) * (size_t)stride + SIMD_BYTES;
    int32_t *panel = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);

    return panel ? memset(panel, 0, bytes) : NULL;
}

/* The pixels behind these, or these where they are the last. */
static const char *pairs_next(const struct image *in, int64_t first, int count)
{
    return correlation_pixel(in, first + count < (int64_t)in->width * in->height ? first + count : first);
}

/* As many pairs as let the panel stay in the cache. */
static int pairs_of_run(int stride)
{
    const int fit = PANEL_BYTES / 4 / stride;

    return fit < 16 ? 16 : fit < PANEL ? fit : PANEL;
}

/* Samples of consecutive bands as 32-bit lanes. */
SIMD_INLINE simd_u32 pairs_load(const char *samples, bool wide)
{
#if defined(__AVX512BW__)
    return wide ? (simd_u32)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)samples))
                : (simd_u32)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)samples));
#elif defined(__AVX2__)
    return wide ? (simd_u32)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)samples))
                : (simd_u32)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)samples));
#else
    uint16_t words[SIMD_BYTES / 4];
    uint8_t bytes[SIMD_BYTES / 4];
    simd_u32 lanes;

    memcpy(words, samples, wide ? sizeof words : 0);
    memcpy(bytes, samples, wide ? 0 : sizeof bytes);
    for (int lane = 0; lane < SIMD_BYTES / 4; lane++)
        lanes[lane] = wide ? words[lane] : bytes[lane];
    return lanes;
#endif
}

/* A vector of columns: the next one, or of u16 samples the lower bytes and then the upper ones. */
SIMD_INLINE simd_i16 pairs_column(const int32_t *columns, int column, bool wide)
{
    const simd_i16 whole = (simd_i16)simd_load(columns + (wide ? 0 : column * (SIMD_BYTES / 4)));

    return !wide ? whole : column ? whole >> 8 : whole & 255;
}

/* Adds 32-bit lanes, of upper bytes 256 times, to as many sums, first the even ones: as vectors, for one by one they take longer than all products. */
SIMD_INLINE void pairs_add(int64_t *sums, simd_i32 lanes, bool upper)
{
    const int shift = upper ? 8 : 0;
    int64_t *const odd = sums + SIMD_BYTES / 8;

    simd_store(sums, (simd_u8)((simd_i64)simd_load(sums) + ((simd_i64)lanes << 32 >> (32 - shift))));
    simd_store(odd, (simd_u8)((simd_i64)simd_load(odd) + ((simd_i64)lanes >> 32 << shift)));
}

/* Where that left the sum of a lane. */
static int pairs_place(int lane)
{
    return lane / (SIMD_BYTES / 4) * (SIMD_BYTES / 4) + lane % 2 * (SIMD_BYTES / 8) + lane % (SIMD_BYTES / 4) / 2;
}

/* Pairs of pixels and their sums, a vector of bands at a time. What it reads behind the last band is of the next pixel. */
SIMD_INLINE void weave(const char *pixels, int n, int pairs, bool wide, int32_t *panel, int stride, uint64_t *sums)
{
    enum { LANES = SIMD_BYTES / 4 };
    const ptrdiff_t bytes = (ptrdiff_t)n * (wide ? 2 : 1);

    for (int k = 0; k < n; k += LANES) {
        const char *from = pixels + k * (wide ? 2 : 1);
        int32_t *to = panel + k;
        simd_i32 sum = {0};
        for (int i = 0; i < pairs; i++, from += 2 * bytes, to += stride) {
            const simd_u32 pair = pairs_load(from, wide) | pairs_load(from + bytes, wide) << 16;
            const simd_u32 kept = wide ? pair ^ 0x80008000U : pair;
            simd_store(to, (simd_u8)kept);
            sum = simd_dot2(sum, (simd_i16)kept, (simd_i16)simd_splat(0x00010001));
        }
        for (int lane = 0; lane < LANES && k + lane < n; lane++)
            sums[k + lane] += (uint64_t)(sum[lane] + (wide ? 2 * pairs << 15 : 0));
    }
}

/* The same of `count` pixels from `first` on. Where they are not side by side, have no partner or end the row, they are copied to `scratch`. */
static void load_pairs(const struct image *in, int64_t first, int count, int32_t *panel, int stride, uint64_t *sums)
{
    const int n = in->channels, pairs = (count + 1) / 2;
    const size_t bytes = (size_t)n * (in->type == PIXEL_U16 ? 2 : 1);
    const char *pixels = (const char *)correlation_pixel(in, first);
    char *const scratch = (char *)(panel + PANEL * stride);

    if (count % 2 || first % in->width + count + SIMD_BYTES / 2 > in->width) {
        int64_t left = in->width - first % in->width; /* pixels of this row */
        for (int i = 0; i < count; left = in->width) {
            const int side_by_side = left < count - i ? (int)left : count - i;
            memcpy(scratch + (size_t)i * bytes, correlation_pixel(in, first + i), (size_t)side_by_side * bytes);
            i += side_by_side;
        }
        memset(scratch + (size_t)count * bytes, 0, bytes + SIMD_BYTES);
        pixels = scratch;
    }
    if (in->type == PIXEL_U16)
        weave(pixels, n, pairs, true, panel, stride, sums);
    else
        weave(pixels, n, pairs, false, panel, stride, sums);
}

/* The matrix from the sums of products, of u16 samples less 32768, and behind them the sums of bands. */
static void finish_pairs(const int64_t *sums, int stride, const struct image *in, int center, struct image *out)
{
    const uint64_t pixels = (uint64_t)in->width * (uint64_t)in->height, even = pixels + pixels % 2;
    const uint64_t *const totals = (const uint64_t *)sums + (size_t)stride * (size_t)stride;

    for (int u = 0; u < in->channels; u++)
        for (int v = u; v < in->channels; v++) {
            /* x y = (x - 32768)(y - 32768) + 32768 (x + y) - 32768^2, for each pixel and for zeros beside the last of an odd number. */
            const uint64_t short_of = in->type == PIXEL_U16 ? ((totals[u] + totals[v]) << 15) - (even << 30) : 0;
            const uint64_t product = (uint64_t)sums[v * stride + pairs_place(u)] + short_of;
            const double entry =
                center ? correlation_of_whole(pixels, product, totals[u], totals[v]) : (double)product / (double)pixels;
            ((double *)image_row(out, u))[v] = entry;
            ((double *)image_row(out, v))[u] = entry;
        }
}

#endif
