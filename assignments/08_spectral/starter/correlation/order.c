/*
 * Idea:     all products of a pair of planes are added to one f32 sum, one after the other.
 * Changed:  planes as in cpu/omp, on one thread, with f32 sums in place of f64: twice as many to a vector.
 * Expect:   (which cubes does it fail for, and why? write it BEFORE you run it)
 */
#include <stdlib.h>

#include "common/algo/correlation.h"

/* Adds the products of all pairs of planes of `count` pixels. */
static void add_run(const float *panel, int count, int planes, float *sums)
{
    for (int i = 0; i < count; i++, panel += planes)
        for (int u = 0; u < planes; u++)
            for (int v = u; v < planes; v++)
                sums[u * planes + v] += panel[u] * panel[v];
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params);
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t entries = (size_t)planes * (size_t)planes;
    float *sums = calloc(entries, sizeof *sums);
    double *totals = calloc(entries, sizeof *totals);
    float *panel = malloc(sizeof *panel * CORRELATION_RUN * (size_t)planes);
    enum status status = STATUS_OK;

    if (!sums || !totals || !panel) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the sums of %d planes", planes);
        goto out;
    }
    for (int64_t first = 0; first < pixels; first += CORRELATION_RUN) {
        const int count = (int)(pixels - first < CORRELATION_RUN ? pixels - first : CORRELATION_RUN);
        correlation_load(in, params, first, count, panel, planes);
        add_run(panel, count, planes, sums);
    }
    for (size_t k = 0; k < entries; k++)
        totals[k] = sums[k];
    correlation_finish(totals, in, params, out);
out:
    free(sums);
    free(totals);
    free(panel);
    return status;
}

RUNGS_CPU_VERSION(correlation)
