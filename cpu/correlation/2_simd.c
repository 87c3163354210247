/*
 * Problem:  cpu/omp converts each sample to f64 and adds 8 products of two bands per instruction.
 * Idea:     One sample, repeated in all lanes, is multiplied by the vector of the pixel's later
 *           bands. Sums of 256 pixels are f32, 16 per vector (AVX-512), then added to f64 sums.
 * Expect:   8 times as fast: a million pixels of 31 bands take 8 ms on two cores.
 * Result:   2.9 times as fast as cpu/omp with 2 threads
 *           (results/cpu2/correlation/correlation_1024x1024.json), 0.75 times with 16
 *           (results/h100/correlation/correlation_1024x1024.json); the reason is not known.
 * Run:      make diff-correlation A=cpu/omp B=cpu/simd
 */
#include <stdlib.h>

#include "common/algo/correlation.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4 };

/* Adds the products of all pairs of planes of `count` pixels. `run` is room for the sums of this run. */
static void add_run(const float *panel, int stride, int count, int planes, float *run, double *sums)
{
    memset(run, 0, sizeof *run * (size_t)planes * (size_t)stride);
    for (int i = 0; i < count; i++, panel += stride)
        for (int u = 0; u < planes; u++) {
            /* Minus 0, which changes no number: plus 0 is 0 for -0, so that the compiler has to add. */
            const simd_f32 repeated = panel[u] - (simd_f32){0};
            for (int v = u / LANES * LANES; v < planes; v += LANES) {
                float *to = run + u * stride + v;
                const simd_f32 right = (simd_f32)simd_load(panel + v);
                simd_store(to, (simd_u8)simd_multiply_add((simd_f32)simd_load(to), repeated, right));
            }
        }
    for (int u = 0; u < planes; u++)
        for (int v = u; v < planes; v++)
            sums[u * planes + v] += run[u * stride + v];
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params), stride = (planes + LANES - 1) / LANES * LANES;
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *totals = calloc(entries, sizeof *totals);
    enum status status = totals ? STATUS_OK : STATUS_NO_MEMORY;

#pragma omp parallel
    {
        double *sums = calloc(entries, sizeof *sums);
        float *panel = aligned_alloc(64, (sizeof *panel * CORRELATION_RUN * (size_t)stride + 63) / 64 * 64);
        float *room = aligned_alloc(64, (sizeof *room * (size_t)planes * (size_t)stride + 63) / 64 * 64);
        const bool ready = totals && sums && panel && room;

#pragma omp for schedule(static)
        for (int64_t first = 0; first < pixels; first += CORRELATION_RUN) {
            const int count = (int)(pixels - first < CORRELATION_RUN ? pixels - first : CORRELATION_RUN);
            if (!ready)
                continue;
            correlation_load(in, params, first, count, panel, stride);
            add_run(panel, stride, count, planes, room, sums);
        }
#pragma omp critical
        {
            for (size_t i = 0; ready && i < entries; i++)
                totals[i] += sums[i];
            if (!ready)
                status = STATUS_NO_MEMORY;
        }
        free(sums);
        free(panel);
        free(room);
    }
    if (status == STATUS_OK)
        correlation_finish(totals, in, params, out);
    else
        status_set(status, "no memory for the sums of %d planes", planes);
    free(totals);
    return status;
}

RUNGS_CPU_VERSION(correlation, .instruction_set = SIMD_NAME)
