/*
 * few.h: whole numbers of few bands as vectors of f64, and the matrix from whole sums.
 */
#ifndef RUNGS_CORRELATION_STEPS_FEW_H
#define RUNGS_CORRELATION_STEPS_FEW_H

#include <stdlib.h>
#include <string.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum { FEW_LANES = SIMD_BYTES / 8, FEW = 4 /* bands */, FEW_RUN = 4096 /* pixels */ };

/* Samples side by side, of 16 bits where they are wide: by way of i32, from which processors make f64. */
SIMD_INLINE simd_f64 few_load(const char *samples, bool wide)
{
#if defined(__AVX512BW__)
    const __m256i lanes = wide ? _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)samples))
                               : _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)samples));
    return (simd_f64)_mm512_cvtepi32_pd(lanes);
#elif defined(__AVX2__)
    const __m128i lanes = wide ? _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)samples))
                               : _mm_cvtepu8_epi32(_mm_loadu_si32(samples));
    return (simd_f64)_mm256_cvtepi32_pd(lanes);
#else
    uint16_t words[FEW_LANES];
    simd_f64 lanes;

    memcpy(words, samples, wide ? sizeof words : 0);
    for (int lane = 0; lane < FEW_LANES; lane++)
        lanes[lane] = wide ? words[lane] : ((const uint8_t *)samples)[lane];
    return lanes;
#endif
}

/* Products and sums of pixels one by one. Behind the n * n sums of products lie n of bands. */
static inline void few_by_one(const char *pixel, int count, int n, bool wide, uint64_t *sums)
{
    for (int i = 0; i < count; i++, pixel += n << wide)
        for (int u = 0; u < n; u++) {
            const uint64_t left = wide ? ((const uint16_t *)(const void *)pixel)[u] : ((const uint8_t *)pixel)[u];
            sums[n * n + u] += left;
            for (int v = u; v < n; v++)
                sums[u * n + v] +=
                    left * (wide ? ((const uint16_t *)(const void *)pixel)[v] : ((const uint8_t *)pixel)[v]);
        }
}

/* The matrix from these sums. */
static inline void few_finish(const uint64_t *sums, const struct image *in, int center, struct image *out)
{
    const uint64_t pixels = (uint64_t)in->width * (uint64_t)in->height;
    const int n = in->channels;

    for (int u = 0; u < n; u++)
        for (int v = u; v < n; v++) {
            const uint64_t product = sums[u * n + v];
            const double entry = center ? correlation_of_whole(pixels, product, sums[n * n + u], sums[n * n + v])
                                        : (double)product / (double)pixels;
            ((double *)image_row(out, u))[v] = entry;
            ((double *)image_row(out, v))[u] = entry;
        }
}

#endif
