/*
 * Idea:     integers are multiplied as integers: the samples of two pixels are the halves of a 32-bit lane, and one
 *           instruction multiplies both halves by those of another plane and adds both products to a sum.
 * Changed:  u8 and u16 cubes have add_dots() in place of add_tile(). x - 32768 of u16 fits a signed half, times a byte of the other
 *           sample: what that is short of comes from the sums of bands. Vectors make the pairs and add 64-bit sums, tiles lie below
 *           the diagonal and ask for the next run, for all this took longer than the products.
 * Expect:   31 bands: half the instructions of a f32 cube for u8, 24 a pixel, and as many for u16, of which registers has four times
 *           as many. Making the pairs takes as long as the products of u8: 2 and 1.2 times as fast as f32's tiles.
 * Result:   one thread, 31 bands: 4.8 ms for u8 and 7.8 for u16 (results/cpu2/correlation/correlation_1024x1024x31_u8_one.json and
 *           x31_u16_one) where cpu/ahead has 8.1 for f32 (x31_f32_one); 81 bands: 25 and 44 where it has 68. Few bands leave most
 *           lanes empty: with 3 it is 1.1 and 1.6 ms where cpu/shifted has 0.68 for f32 (x3_u8_one, x3_u16_one, x3_f32_one).
 * From:     cpu/registers
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/pairs.h"

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

static enum status run_real(const struct image *in, struct image *out, const struct correlation_params *params)
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

/* The same of pairs of pixels, u16 samples by their lower and their upper bytes: 128 sums of two products of 32768 times 255 are below 2^31. */
SIMD_INLINE void add_dots(const int32_t *panel, int stride, int pairs, int u, int v, int vectors, bool wide,
                          int64_t *sums, const char *next)
{
    simd_i32 tile[ROWS][2] = {{{0}}};

    for (int i = 0; i < pairs; i++, panel += stride) {
        simd_i16 right[2];
        __builtin_prefetch(next + (size_t)i * LINE);
        for (int column = 0; column < vectors; column++)
            right[column] = pairs_column(panel + v, column, wide);
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < vectors; column++)
                tile[row][column] =
                    simd_dot2(tile[row][column], (simd_i16)simd_splat((uint32_t)panel[u + row]), right[column]);
    }
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < vectors; column++)
            pairs_add(sums + (u + row) * stride + v + (wide ? 0 : column * LANES), tile[row][column], wide && column);
}

/* The same of all tiles, which ask for the next pixels while they go over these. */
static void add_pairs(const int32_t *panel, int stride, int pairs, int n, bool wide, int64_t *sums, const char *next)
{
    const char *const end = next + (ptrdiff_t)pairs * n * (wide ? 4 : 2);
    for (int u = 0; u < n; u += ROWS)
        for (int v = 0; v < u + ROWS; v += wide ? LANES : 2 * LANES, next += next < end ? pairs * LINE : 0)
            if (wide)
                add_dots(panel, stride, pairs, u, v, 2, true, sums, next);
            else if (v + LANES < u + ROWS)
                add_dots(panel, stride, pairs, u, v, 2, false, sums, next);
            else
                add_dots(panel, stride, pairs, u, v, 1, false, sums, next);
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int n = in->channels, stride = (n + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    const int pixels_of_run = 2 * pairs_of_run(stride);
    const size_t entries = (size_t)stride * (size_t)stride + (size_t)stride; /* of the matrix, then sums of bands */
    int64_t *totals = in->type == PIXEL_F32 ? NULL : calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

    if (in->type == PIXEL_F32)
        return run_real(in, out, params);
#pragma omp parallel
    {
        int64_t *sums = calloc(entries, sizeof *sums);
        int32_t *panel = pairs_panel(stride);
        const bool ready = totals && sums && panel;
#pragma omp for schedule(static)
        for (int64_t first = 0; first < pixels; first += pixels_of_run) {
            const int count = (int)(pixels - first < pixels_of_run ? pixels - first : pixels_of_run);
            if (!ready)
                continue;
            load_pairs(in, first, count, panel, stride, (uint64_t *)sums + (size_t)stride * (size_t)stride);
            add_pairs(panel, stride, (count + 1) / 2, n, in->type == PIXEL_U16, sums, pairs_next(in, first, count));
        }
#pragma omp critical
        {
            for (size_t i = 0; ready && i < entries; i++)
                totals[i] += sums[i];
            status = ready ? status : STATUS_NO_MEMORY;
        }
        free(sums);
        free(panel);
    }
    if (status == STATUS_OK)
        finish_pairs(totals, stride, in, params->center, out);
    else
        status_set(status, "no memory for the sums of %d bands", n);
    free(totals);
    return status;
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
