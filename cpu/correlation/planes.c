/*
 * Idea:     one loop for all types: a run of 256 pixels is first turned into planes (correlation.h: f32 numbers, small
 *           enough that integers stay exact), then the products of all pairs of planes are added in f64.
 * Changed:  loading is apart from summing, and what the cube holds no longer matters where the sums are made.
 * Expect:   serial's time for u8 and f32: the same products, and 31 KiB of planes that stay in the first-level cache.
 *           For u16 there are twice as many planes, and so four times as many products as serial has.
 * Result:   the same time as serial, 1.1 times within the noise (results/cpu2/correlation/correlation_1024x1024.json).
 * From:     cpu/serial
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/planes,cpu/omp,cpu/simd */
#include <stdlib.h>

#include "common/algo/correlation.h"

/* Adds the products of all pairs of planes of `count` pixels. */
static void add_run(const float *panel, int stride, int count, int planes, double *sums)
{
    for (int i = 0; i < count; i++, panel += stride)
        for (int u = 0; u < planes; u++)
            for (int v = u; v < planes; v++)
                sums[u * planes + v] += (double)panel[u] * panel[v];
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = planes;
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *sums = calloc(entries, sizeof *sums);
    float *panel = aligned_alloc(64, (sizeof *panel * CORRELATION_RUN * (size_t)stride + 63) / 64 * 64);
    enum status status = sums && panel ? STATUS_OK : STATUS_NO_MEMORY;

    for (int64_t first = 0; first < pixels && status == STATUS_OK; first += CORRELATION_RUN) {
        const int count = (int)(pixels - first < CORRELATION_RUN ? pixels - first : CORRELATION_RUN);
        correlation_load(in, params, first, count, panel, stride);
        add_run(panel, stride, count, planes, sums);
    }
    if (status == STATUS_OK)
        correlation_finish(sums, in, params, out);
    else
        status_set(status, "no memory for the sums of %d planes", planes);
    free(sums);
    free(panel);
    return status;
}

RUNGS_CPU_VERSION(correlation)
