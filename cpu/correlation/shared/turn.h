/*
 * turn.h: vectors whose lanes are pixels, a vector for each plane, from pixels as they lie; and the sums of vectors' lanes, a lane for each.
 */
#ifndef RUNGS_CORRELATION_STEPS_TURN_H
#define RUNGS_CORRELATION_STEPS_TURN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum { TURN_LANES = SIMD_BYTES / 4 };

/* Within each four lanes of the results the lanes i, j, k and l of the same four of a, and of b, whose lanes count on. */
#if SIMD_BYTES == 64
#define TURN_FOURS(i, j, k, l)                                                                                         \
    i, j, k, l, i + 4, j + 4, k + 4, l + 4, i + 8, j + 8, k + 8, l + 8, i + 12, j + 12, k + 12, l + 12
#elif SIMD_BYTES == 32
#define TURN_FOURS(i, j, k, l) i, j, k, l, i + 4, j + 4, k + 4, l + 4
#else
#define TURN_FOURS(i, j, k, l) i, j, k, l
#endif
#define TURN_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, TURN_FOURS(i, j, k, l))

/* The even and the odd fours of a and then of b. */
SIMD_INLINE simd_f32 turn_even(simd_f32 a, simd_f32 b)
{
#if SIMD_BYTES == 64
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
#elif SIMD_BYTES == 32
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
#else
    return (void)b, a;
#endif
}

SIMD_INLINE simd_f32 turn_odd(simd_f32 a, simd_f32 b)
{
#if SIMD_BYTES == 64
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
#elif SIMD_BYTES == 32
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
#else
    return (void)b, a;
#endif
}

/* Vectors i and i + `apart` of each 2 * `apart` give up half their fours to each other. */
SIMD_INLINE void turn_fours(simd_f32 *v, int apart)
{
#pragma GCC unroll 16
    for (int i = 0; i < TURN_LANES; i++)
        if (!(i & apart) && apart < TURN_LANES) {
            const simd_f32 even = turn_even(v[i], v[i + apart]), odd = turn_odd(v[i], v[i + apart]);
            v[i] = even;
            v[i + apart] = odd;
        }
}

/* n planes of a vector's pixels, `step` floats apart. Reads whole vectors, behind the last plane of a pixel what lies there, and so does it write. */
SIMD_INLINE void turn(const float *pixels, ptrdiff_t step, int n, simd_f32 *planes)
{
    enum { N = TURN_LANES };
    int k = 0;

    for (; k + N / 4 < n; k += N) {
        simd_f32 v[N], pairs[N];
#pragma GCC unroll 16
        for (int i = 0; i < N; i++)
            v[i] = (simd_f32)simd_load(pixels + i * step + k);
            /* Fours of lanes and of pixels change places within each four, then fours as wholes: instructions that do not mix them are the faster ones. */
#pragma GCC unroll 16
        for (int i = 0; i < N; i += 2) {
            pairs[i] = TURN_SHUFFLE(v[i], v[i + 1], 0, N, 1, N + 1);
            pairs[i + 1] = TURN_SHUFFLE(v[i], v[i + 1], 2, N + 2, 3, N + 3);
        }
#pragma GCC unroll 16
        for (int i = 0; i < N; i += 4)
#pragma GCC unroll 2
            for (int half = 0; half < 2; half++) {
                v[i + 2 * half] = TURN_SHUFFLE(pairs[i + half], pairs[i + half + 2], 0, 1, N, N + 1);
                v[i + 2 * half + 1] = TURN_SHUFFLE(pairs[i + half], pairs[i + half + 2], 2, 3, N + 2, N + 3);
            }
        turn_fours(v, 4);
        turn_fours(v, 8);
#pragma GCC unroll 16
        for (int i = 0; i < N; i++)
            planes[k + i] = v[i];
    }
    /* A few planes more, as 81 bands have, are not worth a vector of each pixel. */
    for (; k < n; k++)
        for (int i = 0; i < N; i++)
            planes[k][i] = pixels[i * step + k];
}

/* Lane l is the sum of all lanes of v[l]; v is used up. */
SIMD_INLINE simd_f32 turn_sums(simd_f32 *v)
{
    enum { N = TURN_LANES };

#pragma GCC unroll 4
    for (int i = 0; i < N; i += 4) {
        const simd_f32 a =
            TURN_SHUFFLE(v[i], v[i + 1], 0, N, 1, N + 1) + TURN_SHUFFLE(v[i], v[i + 1], 2, N + 2, 3, N + 3);
        const simd_f32 b =
            TURN_SHUFFLE(v[i + 2], v[i + 3], 0, N, 1, N + 1) + TURN_SHUFFLE(v[i + 2], v[i + 3], 2, N + 2, 3, N + 3);
        v[i / 4] = TURN_SHUFFLE(a, b, 0, 1, N, N + 1) + TURN_SHUFFLE(a, b, 2, 3, N + 2, N + 3);
    }
#pragma GCC unroll 2
    for (int left = N / 8; left > 0; left /= 2)
#pragma GCC unroll 2
        for (int i = 0; i < left; i++)
            v[i] = turn_even(v[2 * i], v[2 * i + 1]) + turn_odd(v[2 * i], v[2 * i + 1]);
    return v[0];
}

/* Where the sum of pair (u, v) is, of tiles with so many `entries` each, of which those of `side` rows come first, row by row. */
static inline size_t turn_place(int u, int v, int blocks, int side, int entries)
{
    return ((size_t)(u / side) * (size_t)blocks + (size_t)(v / side)) * (size_t)entries +
           (size_t)(u % side * side + v % side);
}

/* Adds the lanes of each of `count` vectors, whole times as many as they have lanes, to a sum of its own. */
SIMD_INLINE void turn_add(simd_f32 *v, int count, double *sums)
{
#pragma GCC unroll 4
    for (int first = 0; first < count; first += TURN_LANES) {
        const simd_f32 totals = turn_sums(v + first);
        for (int lane = 0; lane < TURN_LANES; lane++)
            sums[first + lane] += (double)totals[lane];
    }
}

/* Turns `count` pixels from `first` on: where they lie, or by way of `panel` what must be changed or has nothing behind it to read. `stride`
 * floats of `panel` are a pixel, `stride` vectors of `turned` are as many pixels as they have lanes, of which the last ones may be zeros. */
SIMD_INLINE void turn_run(const struct image *in, const struct correlation_params *params, int64_t first, int count,
                          float *panel, simd_f32 *turned, int stride)
{
    const int planes = correlation_planes(in, params), room = TURN_LANES + stride / in->channels;

    for (int i = 0; i < count; i += TURN_LANES, turned += stride) {
        const int64_t row_ends = in->width - (first + i) % in->width;
        if (in->type == PIXEL_F32 && !params->center && row_ends > room && i + TURN_LANES <= count)
            turn(correlation_pixel(in, first + i), planes, planes, turned);
        else {
            const int left = count - i < TURN_LANES ? count - i : TURN_LANES;
            correlation_load(in, params, first + i, left, panel, stride);
            memset(panel + left * stride, 0, sizeof *panel * (size_t)((TURN_LANES - left) * stride));
            turn(panel, stride, planes, turned);
        }
    }
}

/* The pixels behind these, or these where they are the last. */
static inline const char *turn_next(const struct image *in, int64_t first, int count)
{
    return correlation_pixel(in, first + count < (int64_t)in->width * in->height ? first + count : first);
}

#endif
