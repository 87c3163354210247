/*
 * Problem:  cpu/register_tile first copies all samples; memory is idle while it multiplies bands.
 * Idea:     Register tiles (shared/prefetch_tile.h) read f32 pixels where they lie. At each pixel
 *           they prefetch a cache line of the next 256 pixels: memory works while they multiply.
 * Expect:   4 to 5 ms with 31 bands and 2 threads instead of 8 ms.
 * Result:   1.6 times as fast as cpu/register_tile with 16 threads, 2.2 ms
 *           (results/h100/correlation/correlation_1024x1024.json).
 * Run:      make diff-correlation A=cpu/register_tile B=cpu/prefetch
 */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/prefetch_tile.h"

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    /* f32 pixels are read where they lie, row by row; others through a panel, as one long row. */
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
            /* The last pixels of a row have no whole vector behind them to read: they go through the panel. */
            int direct = in_place ? (int)(line - tail - begin) : 0;
            direct = direct < 0 ? 0 : direct < count ? direct : count;
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
