/*
 * Idea:     a rank-1 update by vectors: the products of one plane with all later planes of a pixel are a few vectors, one
 *           sample repeated times the pixel's planes side by side.
 * Changed:  within a run of 256 pixels the sums are f32, 16 to a vector with AVX-512; after it they are added to those in
 *           f64. Planes are padded to whole vectors, and a row of sums begins with the vector that holds the diagonal.
 * Expect:   31 bands are 47 multiply-adds of vectors for a pixel, each with a load and a store of its sums, which one store
 *           a cycle limits: some 8 ms for a million pixels on two cores, 8 times faster than omp.
 * From:     cpu/omp
 */
/* Try: make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas */
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
