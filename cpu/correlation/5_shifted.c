/*
 * Problem:  With 3 bands cpu/prefetch fills 3 of a vector's 16 lanes; it copies integers first.
 * Idea:     Shifted rows (shared/shifted.h): all bands of all pixels in a line, times the same line
 *           shifted by d samples, are the products of bands u and u + d: up to 6 bands no lane is
 *           empty. Bytes become f32 first. More bands: shared/prefetch_tile.h, as before.
 * Expect:   3 bands: 9 vector multiply-adds for 16 pixels instead of 128: memory is the limit.
 * Result:   2.73 times as fast as cpu/prefetch with 3 bands, one thread
 *           (results/cpu2_xeon/correlation/correlation_1024x1024x3_f32_one.json).
 * Run:      make diff-correlation A=cpu/prefetch B=cpu/shifted
 */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"
#include "cpu/correlation/shared/prefetch_tile.h"
#include "cpu/correlation/shared/shifted.h"

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    const int64_t pixels = (int64_t)in->width * in->height;
    /* f32 pixels are read where they lie, row by row; others through a panel, as one long row. */
    const bool in_place = in->type == PIXEL_F32 && !params->center && in->width >= CORRELATION_RUN;
    const int64_t width = in_place ? in->width : pixels, lines = pixels / width;
    const bool shifted = shifted_fits(in, params);
    const int64_t run_pixels = shifted                            ? shifted_run(planes)
                               : in_place && in->channels >= MANY ? MANY_RUN
                                                                  : CORRELATION_RUN;
    const int64_t chunks = (width + run_pixels - 1) / run_pixels, tail = stride / in->channels + 1;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *totals = calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

#pragma omp parallel
    {
        double *sums = calloc((size_t)stride * (size_t)stride, sizeof *sums);
        float *panel =
            aligned_alloc(64, (sizeof *panel * (size_t)(run_pixels + LANES) * (size_t)stride + 63) / 64 * 64);
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
            if (shifted) {
                if (!in_place)
                    shifted_load(in, begin, count, planes, panel);
                shifted_add(in_place ? correlation_pixel(in, begin) : panel, count,
                            in_place ? line - begin : count + LANES, planes, in->type == PIXEL_U16, stride, sums);
                continue;
            }
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
