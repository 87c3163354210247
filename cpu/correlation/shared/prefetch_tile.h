/*
 * prefetch_tile.h: register tiles that read f32 pixels where they lie and prefetch the pixels behind them.
 */
#ifndef RUNGS_CORRELATION_PREFETCH_TILE_H
#define RUNGS_CORRELATION_PREFETCH_TILE_H

#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4 };

/* Registers hold the sums, two vectors of samples and a repeated one: AVX2 has 16, AVX-512 32. MULTIPLE: of ROWS and of
 * LANES.
 *
 *                planes v ...            v + 2 LANES - 1
 *              +-----------------------+-----------------------+
 *   plane u    | vector of LANES sums  | vector of LANES sums  |
 *   u + 1      |          ...          |          ...          |   a sample of row u, repeated, times two vectors
 *     ...      +-----------------------+-----------------------+
 */
enum { ROWS = LANES == 8 ? 6 : 8, MULTIPLE = LANES == 8 ? 24 : LANES > ROWS ? LANES : ROWS };

/* From MANY bands on runs in place are shorter, so that they stay in the L1 cache while all tiles read them. */
enum { MANY = 64 /* bands */, MANY_RUN = 64 /* pixels */, LINE = 64 /* bytes of a cache line */ };

/* The sums of one tile over `count` pixels: rows u to u + ROWS - 1, `vectors` vectors from plane v on. The planes of a
 * pixel begin `step` floats behind those of the one before; a cache line at `next` is prefetched for each pixel. */
SIMD_INLINE void add_tile(const float *panel, int step, int count, int u, int v, int vectors, int stride, double *sums,
                          const char *next)
{
    simd_f32 tile[ROWS][2] = {{{0}}};

    for (int i = 0; i < count; i++, panel += step) {
        simd_f32 right[2];
        __builtin_prefetch(next + (size_t)i * LINE);
        for (int column = 0; column < vectors; column++)
            right[column] = (simd_f32)simd_load(panel + v + column * LANES);
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; row++) {
            const simd_f32 left = panel[u + row] - (simd_f32){0};
            for (int column = 0; column < vectors; column++)
                tile[row][column] = simd_multiply_add(tile[row][column], left, right[column]);
        }
    }
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < vectors; column++)
            for (int lane = 0; lane < LANES; lane++)
                sums[(u + row) * stride + v + column * LANES + lane] += (double)tile[row][column][lane];
}

/* Adds the products of all pairs of planes of `count` pixels. Behind them lies the next run, which tiles prefetch. */
static void add_run(const float *panel, int step, int count, int planes, int stride, double *sums)
{
    const char *next = (const char *)(panel + (size_t)count * (size_t)step);
    const char *const end = next + (next - (const char *)panel);

    for (int u = 0; count > 0 && u < planes; u += ROWS) {
        int v = u / LANES * LANES;
        for (; v + LANES < planes; v += 2 * LANES, next += next < end ? count * LINE : 0)
            add_tile(panel, step, count, u, v, 2, stride, sums, next < end ? next : (const char *)panel);
        if (v < planes)
            add_tile(panel, step, count, u, v, 1, stride, sums, next < end ? next : (const char *)panel);
    }
}

#endif
