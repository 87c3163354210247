/*
 * quads.h: whole numbers of few bands as bytes, those of four pixels in a lane of 32 bits. A u16 band is two bands of bytes.
 */
#ifndef RUNGS_CORRELATION_STEPS_QUADS_H
#define RUNGS_CORRELATION_STEPS_QUADS_H

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/few.h"

/* Only where a processor can put 64 bytes in any order. */
#if defined(__AVX512VBMI__) && defined(__AVX512VNNI__)
#define QUADS 1

/* A vector has the bytes of four pixels at least: at most so many bands of bytes. */
enum { QUADS_LANES = SIMD_BYTES / 4, QUADS_TURNS = QUADS_LANES / 2 + 1, QUADS_RUN = 4096 /* pixels */ };

/* A step adds at most 4 products of 255 and -128 to a lane: so many stay above -2^31. */
enum { QUADS_STEPS = 16384 };

/* Of each lane, over `steps` steps: sums of its four bytes, and of their products with those of the band d behind, less 128. */
struct quads {
    simd_i32 products[QUADS_TURNS], totals;
    int steps;
};

static bool quads_hold(const struct image *in)
{
    return in->type != PIXEL_F32 && in->channels * (in->type == PIXEL_U16 ? 2 : 1) <= QUADS_LANES;
}

/* The orders of bytes that make lanes of four pixels out of pixels side by side, and that turn each four's bands by one. */
static inline void quads_orders(int bands, uint8_t gather[SIMD_BYTES], uint8_t turn[SIMD_BYTES])
{
    for (int i = 0; i < SIMD_BYTES; i++) {
        const int lane = i / 4, first = lane / bands * bands, band = lane % bands;
        const bool used = first + bands <= QUADS_LANES;
        gather[i] = (uint8_t)(used ? (4 * (lane / bands) + i % 4) * bands + band : 0);
        turn[i] = (uint8_t)(used ? 4 * (first + (band + 1) % bands) + i % 4 : 0);
    }
}

/* The first `count` bytes, and zeros. */
SIMD_INLINE simd_u8 quads_load(const uint8_t *bytes, int count)
{
    return (simd_u8)_mm512_maskz_loadu_epi8(~0ull >> (SIMD_BYTES - count), bytes);
}

/* Adds these lanes to sums of products and of bands as few_finish() wants them, and begins again. */
static inline void quads_pour(struct quads *quads, int n, int bands, uint64_t *sums)
{
    const int width = bands / n; /* bytes of a sample */

    for (int lane = 0; lane < QUADS_LANES / bands * bands; lane++) {
        const int i = lane % bands, u = i / width;
        sums[n * n + u] += (uint64_t)quads->totals[lane] << 8 * (i % width);
        /* With bands turned by half of their number each pair is there twice. */
        for (int d = 0; d <= bands / 2 && (2 * d < bands || i < bands / 2 || d == 0); d++) {
            const int j = (i + d) % bands, v = j / width;
            const uint64_t product = (uint64_t)(quads->products[d][lane] + 128 * (int64_t)quads->totals[lane]);
            /* A sample's lower byte times its upper one is in its square twice. */
            sums[u < v ? u * n + v : v * n + u] += product << (8 * (i % width + j % width) + (u == v && i != j));
        }
    }
    *quads = (struct quads){0};
}

#endif
#endif
