/*
 * Idea:     with few bands most lanes of a tile are empty. Instead a row of samples, all bands of all pixels in a line,
 *           is multiplied by the same row shifted by d samples: these are the products of all pairs of bands (u, u +
 *           d), in lanes that repeat every few vectors. n shifts of 1, 3 or 5 vectors give all pairs, 9 sums for 3
 *           bands and 18 for 6, all in registers. The products of a pixel with the next one's bands fall in lanes of
 *           their own, which are left out in the end.
 * Changed:  runs of cubes of at most 6 bands, and of 8, that lie in place go through add_shifted() instead of tiles.
 * Expect:   3 bands: 9 multiply-adds for 16 pixels, so that only memory counts: 12 MB in 0.5 ms or so, 10 times less than
 *           tiles; 6 bands: 18 for 8 pixels, 1 ms for a million.
 * From:     cpu/in_place
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4 };

/* AVX2 has 16 registers in place of 32, for the sums, two vectors of samples and a repeated one. MULTIPLE: of ROWS and of LANES. */
enum { ROWS = LANES == 8 ? 6 : 8, MULTIPLE = LANES == 8 ? 24 : LANES > ROWS ? LANES : ROWS };
enum {
    SHIFTED = 8 /* bands */,
    MOST = 5 /* vectors */,
    FEW_RUN = 64 * LANES /* pixels */
};

/* Runs of so many bands that lie in place are shorter, for tiles read them again and again out of the first-level cache. */
enum { MANY = 64 /* bands */, MANY_RUN = 64 /* pixels */ };

/* The sums of one tile over `count` pixels, whose planes begin `step` floats apart: rows u to u + ROWS - 1, `vectors` vectors from plane v on. */
SIMD_INLINE void add_tile(const float *panel, int step, int count, int u, int v, int vectors, int stride, double *sums)
{
    simd_f32 tile[ROWS][2] = {{{0}}};

    for (int i = 0; i < count; i++, panel += step) {
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

/* The same for all pairs of n planes, from samples that lie without gaps. `period` vectors are a whole number of pixels. */
SIMD_INLINE void add_shifted(const float *samples, int count, int n, int period, int stride, double *sums)
{
    simd_f32 products[SHIFTED][MOST] = {{{0}}};
    const int step = period * LANES / n;

    for (int i = 0; i + step <= count; i += step, samples += period * LANES)
#pragma GCC unroll 5
        for (int k = 0; k < period; k++) {
            const simd_f32 left = (simd_f32)simd_load(samples + k * LANES);
#pragma GCC unroll 8
            for (int d = 0; d < n; d++)
                products[d][k] = simd_multiply_add(products[d][k], left, (simd_f32)simd_load(samples + k * LANES + d));
        }
    for (int d = 0; d < n; d++)
        for (int at = 0; at < period * LANES; at++)
            if (at % n + d < n)
                sums[at % n * stride + at % n + d] += (double)products[d][at / LANES][at % LANES];
    for (int i = 0; i < count % step; i++)
        for (int u = 0; u < n; u++)
            for (int v = u; v < n; v++)
                sums[u * stride + v] += (double)samples[i * n + u] * samples[i * n + v];
}

/* Whether there is such a loop for n bands. */
static bool has_few(int n)
{
    return n <= 6 || n == SHIFTED;
}

static void add_few(const float *samples, int count, int n, int stride, double *sums)
{
    switch (n) {
    case 1:
        add_shifted(samples, count, 1, 1, stride, sums);
        break;
    case 2:
        add_shifted(samples, count, 2, 1, stride, sums);
        break;
    case 3:
        add_shifted(samples, count, 3, 3, stride, sums);
        break;
    case 4:
        add_shifted(samples, count, 4, 1, stride, sums);
        break;
    case 5:
        add_shifted(samples, count, 5, 5, stride, sums);
        break;
    case 6:
        add_shifted(samples, count, 6, 3, stride, sums);
        break;
    case 8:
        add_shifted(samples, count, 8, LANES < 8 ? 2 : 1, stride, sums);
        break;
    default:
        break;
    }
}

/* Adds the products of all pairs of planes of `count` pixels. */
static void add_run(const float *panel, int step, int count, int planes, int stride, double *sums)
{
    for (int u = 0; count > 0 && u < planes; u += ROWS) {
        int v = u / LANES * LANES;
        for (; v + LANES < planes; v += 2 * LANES)
            add_tile(panel, step, count, u, v, 2, stride, sums);
        if (v < planes)
            add_tile(panel, step, count, u, v, 1, stride, sums);
    }
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    /* What is not read in place counts as one long row. */
    const bool in_place = in->type == PIXEL_F32 && !params->center && in->width >= CORRELATION_RUN;
    const int64_t width = in_place ? in->width : pixels, lines = pixels / width;
    const int64_t run_pixels = in_place && has_few(in->channels)  ? FEW_RUN
                               : in_place && in->channels >= MANY ? MANY_RUN
                                                                  : CORRELATION_RUN;
    const int64_t chunks = (width + run_pixels - 1) / run_pixels, tail = stride / in->channels + 1;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *totals = calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

#pragma omp parallel
    {
        double *sums = calloc((size_t)stride * (size_t)stride, sizeof *sums);
        float *panel = aligned_alloc(64, (sizeof *panel * CORRELATION_RUN * (size_t)stride + 63) / 64 * 64);
        const bool ready = totals && sums && panel;

#pragma omp for schedule(static)
        for (int64_t chunk = 0; chunk < chunks * lines; chunk++) {
            const int64_t begin = chunk / chunks * width + chunk % chunks * run_pixels;
            const int64_t end = begin + run_pixels, line = (chunk / chunks + 1) * width;
            const int count = (int)((end < line ? end : line) - begin);
            const int within = (int)(line - tail - begin), direct = !in_place || within < 0 ? 0
                                                                    : within < count        ? within
                                                                                            : count;
            if (!ready)
                continue;
            if (has_few(in->channels))
                add_few(correlation_pixel(in, begin), direct, in->channels, stride, sums);
            else
                add_run(correlation_pixel(in, begin), in->channels, direct, planes, stride, sums);
            correlation_load(in, params, begin + direct, count - direct, panel, stride);
            add_run(panel, stride, count - direct, planes, stride, sums);
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
