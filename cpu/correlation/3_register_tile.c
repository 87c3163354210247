/*
 * Problem:  cpu/simd loads and stores a sum for each vector multiply-add of two bands.
 * Idea:     Register tile: 8 rows by 2 vectors of the correlation matrix stay in registers for 256
 *           pixels. In a tile a pixel costs 10 loads for 16 multiply-adds and no store.
 * Expect:   7 ms for a million pixels of 31 bands on two cores: tiles make 48 vector multiply-adds
 *           per pixel, one per cycle.
 * Result:   8.0 times as fast as cpu/simd with 16 threads, 3.4 ms
 *           (results/h100/correlation/correlation_1024x1024.json).
 * Run:      make diff-correlation A=cpu/simd B=cpu/register_tile
 */
#include <stdlib.h>

#include "common/algo/correlation.h"
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

/* The sums of one tile over `count` pixels: rows u to u + ROWS - 1, `vectors` vectors from plane v on. */
SIMD_INLINE void add_tile(const float *panel, int stride, int count, int u, int v, int vectors, double *sums)
{
    simd_f32 tile[ROWS][2] = {{{0}}};

    for (int i = 0; i < count; i++, panel += stride) {
        simd_f32 right[2];
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

/* Adds the products of all pairs of planes of `count` pixels. */
static void add_run(const float *panel, int stride, int count, int planes, double *sums)
{
    for (int u = 0; u < planes; u += ROWS) {
        int v = u / LANES * LANES;
        for (; v + LANES < planes; v += 2 * LANES)
            add_tile(panel, stride, count, u, v, 2, sums);
        if (v < planes)
            add_tile(panel, stride, count, u, v, 1, sums);
    }
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *totals = calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

#pragma omp parallel
    {
        double *sums = calloc((size_t)stride * (size_t)stride, sizeof *sums);
        float *panel = aligned_alloc(64, (sizeof *panel * CORRELATION_RUN * (size_t)stride + 63) / 64 * 64);
        const bool ready = totals && sums && panel;

#pragma omp for schedule(static)
        for (int64_t first = 0; first < pixels; first += CORRELATION_RUN) {
            const int count = (int)(pixels - first < CORRELATION_RUN ? pixels - first : CORRELATION_RUN);
            if (!ready)
                continue;
            correlation_load(in, params, first, count, panel, stride);
            add_run(panel, stride, count, planes, sums);
        }
#pragma omp critical
        {
            for (size_t i = 0; ready && i < entries; i++)
                totals[i] += sums[i / (size_t)planes * (size_t)stride + i % (size_t)planes];
            if (!ready)
                status = STATUS_NO_MEMORY;
        }
        free(sums);
        free(panel);
    }
    if (status == STATUS_OK)
        correlation_finish(totals, in, params, out);
    else
        status_set(status, "no memory for the sums of %d planes", planes);
    free(totals);
    return status;
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
