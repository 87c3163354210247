/*
 * Idea:     few bands of bytes, four pixels a lane. A vector's lanes are the bands of four pixels each; the same with the bands turned
 *           by d is multiplied with it, so that no lane but the last few is empty, and half as many turns as there are bands give
 *           all pairs. A u16 sample counts as two bands of bytes: 256 h + l.
 * Changed:  cubes of at most 16 bands of bytes go through add_quads() in place of panels, where the processor can put 64 bytes in any
 *           order (AVX-512 VBMI); elsewhere nothing changes.
 * Expect:   one thread, a million pixels. 3 bands of u8: 20 pixels take 2 multiply-adds, one for the sums, and 3 orders: some 5 cycles,
 *           so that reading 3 MB, 0.15 ms, is what counts; cpu/few has 0.47. 6 bands of u16: 7 multiply-adds and 8 orders for 4
 *           pixels, 9 cycles or 0.6 ms, where cpu/dots has 1.9 for u8 and more for u16, and cpu/shifted some 1 for f32.
 * Result:   one thread: 0.12 and 0.38 ms for 3 bands of u8 and u16, where cpu/few has 0.86 and 0.87 (results/cpu2/correlation/
 *           correlation_1024x1024x3_u8_quads_one.json, x3_u16_quads_one); 0.35 and 1.09 for 6 bands, where cpu/dots has 1.91 and
 *           3.09 (x6_u8_quads_one, x6_u16_quads_one). Whole numbers take no longer than floats now. Missed: u16 of 6 bands; a
 *           step takes 15 cycles, as many as its 8 orders and 8 multiply-adds would one after the other.
 * From:     cpu/dots
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/pairs.h"
#include "cpu/correlation/shared/quads.h"

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

#ifdef QUADS
/* `count` pixels side by side. Of the last ones' vector bytes that are not theirs are 0, and so are their products. */
SIMD_INLINE void add_quads(const uint8_t *bytes, int count, int bands, const uint8_t *gather, const uint8_t *turn,
                           struct quads *quads)
{
    const int half = bands / 2, pixels = QUADS_LANES / bands * 4;
    struct quads sums = *quads;

    for (; count > 0; count -= pixels, bytes += pixels * bands, sums.steps++) {
        const simd_u8 left = simd_permute(quads_load(bytes, (count < pixels ? count : pixels) * bands), simd_load(gather));
        simd_u8 right = left ^ 128;
        sums.totals = simd_dot4(sums.totals, left, (simd_u8)simd_splat(0x01010101));
        sums.products[0] = simd_dot4(sums.products[0], left, right);
#pragma GCC unroll 8
        for (int d = 1; d < QUADS_TURNS; d++) {
            if (d > half)
                break;
            right = simd_permute(right, simd_load(turn));
            sums.products[d] = simd_dot4(sums.products[d], left, right);
        }
    }
    *quads = sums;
}

static enum status run_quads(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int n = in->channels, bands = n * (in->type == PIXEL_U16 ? 2 : 1);
    const int64_t runs = (in->width + QUADS_RUN - 1) / QUADS_RUN;
    uint64_t totals[(QUADS_LANES + 1) * QUADS_LANES] = {0};
    uint8_t gather[SIMD_BYTES], turn[SIMD_BYTES];

    quads_orders(bands, gather, turn);
#pragma omp parallel
    {
        struct quads quads = {0};
        uint64_t sums[(QUADS_LANES + 1) * QUADS_LANES] = {0};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < runs * in->height; i++) {
            const int x = (int)(i % runs) * QUADS_RUN, count = in->width - x < QUADS_RUN ? in->width - x : QUADS_RUN;
            add_quads(correlation_pixel(in, i / runs * in->width + x), count, bands, gather, turn, &quads);
            if (quads.steps > QUADS_STEPS - QUADS_RUN / 4)
                quads_pour(&quads, n, bands, sums);
        }
        quads_pour(&quads, n, bands, sums);
#pragma omp critical
        for (int i = 0; i < (n + 1) * n; i++)
            totals[i] += sums[i];
    }
    few_finish(totals, in, params->center, out);
    return STATUS_OK;
}
#endif

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
#ifdef QUADS
    if (quads_hold(in)) {
        free(totals);
        return run_quads(in, out, params);
    }
#endif
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
