/*
 * Idea:     few bands of whole numbers by shifts. The products of a row of samples, all bands of all pixels in a line, with the same row
 *           shifted by d samples are those of all pairs (u, u + d), in lanes that repeat every few vectors, and no lane is empty.
 * Changed:  u8 and u16 cubes of 3 and 4 bands are loaded as f64, whose sums of 4096 pixels' products are exact, in place of panels.
 * Expect:   3 bands: 9 loads with conversions and 9 multiply-adds for 8 pixels, where dots fills a panel of empty lanes: 0.5 ms for a million
 *           pixels on one thread, u8 and u16 alike, where shifted has 0.72 for f32, 12 bytes a pixel.
 * Result:   0.47 ms for both, where dots has 1.1 and 1.6 (results/cpu2/correlation/correlation_1024x1024x3_u8_one.json, x3_u16_one) and
 *           shifted 0.68 for f32 (x3_f32_one). A prototype had been
 *           timed when this was expected.
 * From:     cpu/registers
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/few.h"

enum { LANES = SIMD_BYTES / 4 };

/* AVX2 has 16 registers in place of 32, for the sums, two vectors of samples and a repeated one. MULTIPLE: of ROWS and of LANES. */
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

static enum status run_tiles(const struct image *in, struct image *out, const struct correlation_params *params)
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

/* The products of `steps` times `period` vectors, a whole number of pixels, with what lies 0 to n - 1 samples behind, and the sums of bands. */
SIMD_INLINE void add_shifted(const char *samples, int steps, int n, int period, bool wide, uint64_t *sums)
{
    simd_f64 products[FEW + 1][3] = {{{0}}};

    for (int i = 0; i < steps; i++, samples += period * FEW_LANES << wide)
#pragma GCC unroll 3
        for (int k = 0; k < period; k++) {
            const simd_f64 left = few_load(samples + (k * FEW_LANES << wide), wide);
            products[n][k] += left;
#pragma GCC unroll 4
            for (int d = 0; d < n; d++)
                products[d][k] = simd_multiply_add_f64(products[d][k], left,
                                                       few_load(samples + ((k * FEW_LANES + d) << wide), wide));
        }
    for (int at = 0; at < period * FEW_LANES; at++) {
        sums[n * n + at % n] += (uint64_t)products[n][at / FEW_LANES][at % FEW_LANES];
        for (int d = 0; at % n + d < n; d++)
            sums[at % n * n + at % n + d] += (uint64_t)products[d][at / FEW_LANES][at % FEW_LANES];
    }
}

/* `count` pixels side by side, the last ones, whose vectors would read behind them, one by one. */
SIMD_INLINE void add_few(const char *samples, int count, int n, bool wide, uint64_t *sums)
{
    const int period = n == 3 ? 3 : n > FEW_LANES ? n / FEW_LANES : 1, step = period * FEW_LANES / n;
    const int steps = count > FEW_LANES ? (count - FEW_LANES) / step : 0;

    add_shifted(samples, steps, n, period, wide, sums);
    few_by_one(samples + ((ptrdiff_t)steps * step * n << wide), count - steps * step, n, wide, sums);
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int n = in->channels;
    const int64_t runs = (in->width + FEW_RUN - 1) / FEW_RUN;
    const bool wide = in->type == PIXEL_U16;
    uint64_t totals[(FEW + 1) * FEW] = {0};

    if (in->type == PIXEL_F32 || n > FEW)
        return run_tiles(in, out, params);
#pragma omp parallel for reduction(+ : totals) schedule(static)
    for (int64_t i = 0; i < runs * in->height; i++) {
        const int x = (int)(i % runs) * FEW_RUN, count = in->width - x < FEW_RUN ? in->width - x : FEW_RUN;
        const char *samples = correlation_pixel(in, i / runs * in->width + x);
        if (n == 3 && wide)
            add_few(samples, count, 3, true, totals);
        else if (n == 3)
            add_few(samples, count, 3, false, totals);
        else if (n == 4 && wide)
            add_few(samples, count, 4, true, totals);
        else if (n == 4)
            add_few(samples, count, 4, false, totals);
        else
            few_by_one(samples, count, n, wide, totals);
    }
    few_finish(totals, in, params->center, out);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
