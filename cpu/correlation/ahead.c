/*
 * Idea:     the next run is fetched while this one is summed: tiles work on a run that lies in the first-level cache
 *           and leave the memory idle, so at each of their pixels they ask for one line of the next run.
 * Changed:  add_tile() has an address to fetch from, which add_run() moves on until the next run is complete.
 * Expect:   with 31 bands tiles in the cache take 3.3 ms of the 6 for a million pixels on two cores, the rest is waiting for memory at the
 *           beginning of each run: 4 to 5 ms. The same 2 ms or so of 37 with 81 bands.
 * Result:   3.9 ms in place of 5.6 with 31 bands, 8.4 times OpenBLAS (results/cpu2/correlation/correlation_1024x1024x31_ahead.json), and 27 in
 *           place of 36 with 81, 2.4 times (x81_ahead.json): more than predicted there, where a run fills half of the cache.
 * From:     cpu/in_place
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4 };

/* AVX2 has 16 registers in place of 32, for the sums, two vectors of samples and a repeated one. MULTIPLE: of ROWS and of LANES. */
enum { ROWS = LANES == 8 ? 6 : 8, MULTIPLE = LANES == 8 ? 24 : LANES > ROWS ? LANES : ROWS };

/* Runs of so many bands that lie in place are shorter, for tiles read them again and again out of the first-level cache. */
enum { MANY = 64 /* bands */, MANY_RUN = 64 /* pixels */, LINE = 64 /* bytes of a cache line */ };

/* The sums of one tile over `count` pixels, whose planes begin `step` floats apart: rows u to u + ROWS - 1, `vectors` vectors from plane v on. */
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

/* Adds the products of all pairs of planes of `count` pixels. Behind them lies the next run. */
static void add_run(const float *panel, int step, int count, int planes, int stride, double *sums)
{
    const char *next = (const char *)(panel + (size_t)count * (size_t)step), *const end =
                                                                                 next + (next - (const char *)panel);

    for (int u = 0; count > 0 && u < planes; u += ROWS) {
        int v = u / LANES * LANES;
        for (; v + LANES < planes; v += 2 * LANES, next += next < end ? count * LINE : 0)
            add_tile(panel, step, count, u, v, 2, stride, sums, next < end ? next : (const char *)panel);
        if (v < planes)
            add_tile(panel, step, count, u, v, 1, stride, sums, next < end ? next : (const char *)panel);
    }
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    /* What is not read in place counts as one long row. */
    const bool in_place = in->type == PIXEL_F32 && !params->center && in->width >= CORRELATION_RUN;
    const int64_t width = in_place ? in->width : pixels, lines = pixels / width;
    const int64_t run_pixels = in_place && in->channels >= MANY ? MANY_RUN : CORRELATION_RUN;
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
