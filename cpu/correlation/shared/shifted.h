/*
 * shifted.h: a row of samples, all bands of all pixels side by side, times itself shifted by d samples: the products of
 * all pairs of bands (u, u + d). With 3 bands a, b, c:
 *
 *      row           a0 b0 c0 a1 b1 c1 a2 ...        d = 0: aa bb cc
 *      shifted by 1  b0 c0 a1 b1 c1 a2 b2 ...        d = 1: ab bc, and c0 a1, which is left out in the end
 *      shifted by 2  c0 a1 b1 c1 a2 b2 c2 ...        d = 2: ac, and two that are left out
 */
#ifndef RUNGS_CORRELATION_SHIFTED_H
#define RUNGS_CORRELATION_SHIFTED_H

#include <string.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum {
    SHIFTED = 8 /* bands at most */,
    PERIOD = 5 /* vectors at most until lanes have the same bands again */,
    SHIFTED_LANES = SIMD_BYTES / 4
};

/* Planes of bands in the order of memory: the two bytes of a u16 sample are planes that lie side by side. */
static inline bool shifted_fits(const struct image *in, const struct correlation_params *params)
{
    const int n = correlation_planes(in, params);
    const bool loaded = in->type != PIXEL_F32;

    return !params->center && (loaded || in->width >= CORRELATION_RUN) && n <= SHIFTED && n != 7;
}

/* Pixels of a run: each lane adds at most 256 products, of bytes exactly in f32. */
static inline int shifted_run(int n)
{
    return SHIFTED_LANES * (n == SHIFTED ? 32 : 64);
}

/* Bytes of `count` pixels as f32 side by side. */
static inline void shifted_load(const struct image *in, int64_t first, int count, int n, float *to)
{
    for (int row = 0; count > 0; count -= row, first += row) {
        const uint8_t *bytes = correlation_pixel(in, first);
        const int64_t left = in->width - first % in->width;
        row = left < count ? (int)left : count;
        for (int i = 0; i < row * n; i++)
            *to++ = bytes[i];
    }
}

/* `period` vectors are a whole number of pixels; sums of products of that many vectors stay in registers. */
SIMD_INLINE void shifted_multiply(const float *samples, int steps, int n, int period, double sums[SHIFTED][SHIFTED])
{
    simd_f32 products[SHIFTED][PERIOD] = {{{0}}};

    for (int i = 0; i < steps; i++, samples += period * SHIFTED_LANES)
#pragma GCC unroll 5
        for (int k = 0; k < period; k++) {
            const float *const at = samples + k * SHIFTED_LANES;
            const simd_f32 left = (simd_f32)simd_load(at);
#pragma GCC unroll 8
            for (int d = 0; d < n; d++)
                products[d][k] = simd_multiply_add(products[d][k], left, (simd_f32)simd_load(at + d));
        }
    for (int d = 0; d < n; d++)
        for (int at = 0; at < period * SHIFTED_LANES; at++)
            sums[at % n][d] += (double)products[d][at / SHIFTED_LANES][at % SHIFTED_LANES];
}

/* Adds the products of all pairs of n planes of `count` pixels. `readable` pixels of `samples` may be read; `wide`:
 * u16. */
static inline void shifted_add(const float *samples, int count, int64_t readable, int n, bool wide, int stride,
                               double *sums)
{
    const int period = n == 3 || n == 6 ? 3 : n == 5 ? 5 : n > SHIFTED_LANES ? 2 : 1;
    const int pixels = period * SHIFTED_LANES / n;
    const int64_t most = (readable * n - n + 1) / (period * SHIFTED_LANES);
    const int steps = most < count / pixels ? (int)most : count / pixels;
    double pairs[SHIFTED][SHIFTED] = {{0}}; /* of bands u and u + d */

    if (n == 1)
        shifted_multiply(samples, steps, 1, 1, pairs);
    else if (n == 2)
        shifted_multiply(samples, steps, 2, 1, pairs);
    else if (n == 3)
        shifted_multiply(samples, steps, 3, 3, pairs);
    else if (n == 4)
        shifted_multiply(samples, steps, 4, 1, pairs);
    else if (n == 5)
        shifted_multiply(samples, steps, 5, 5, pairs);
    else if (n == 6)
        shifted_multiply(samples, steps, 6, 3, pairs);
    else
        shifted_multiply(samples, steps, 8, SHIFTED_LANES < 8 ? 2 : 1, pairs);
    for (int u = 0; u < n; u++)
        for (int v = u; v < n; v++) {
            for (int i = steps * pixels; i < count; i++)
                pairs[u][v - u] += (double)samples[i * n + u] * samples[i * n + v];
            /* Planes of u16 are all lower bytes, then all upper ones. */
            const int row = wide ? u / 2 + u % 2 * (n / 2) : u, column = wide ? v / 2 + v % 2 * (n / 2) : v;
            sums[row < column ? row * stride + column : column * stride + row] += pairs[u][v - u];
        }
}

#endif
