/*
 * Idea:     products are added in f32 for 256 pixels only, and each of these sums to one in f64.
 * Changed:  the sums of a run are zeroed before it and drained behind it; the loop over pixels is as it was.
 * Expect:   u8 and u16 are exact, f32 has 1/16 of the error that the contract allows, and the loop keeps its speed:
 *           draining is one addition for 256.
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/correlation.h"

/* Adds the products of all pairs of planes of `count` pixels to `sums`; `run` is room for as many. */
static void add_run(const float *panel, int count, int planes, float *run, double *sums)
{
    memset(run, 0, sizeof *run * (size_t)planes * (size_t)planes);
    for (int i = 0; i < count; i++, panel += planes)
        for (int u = 0; u < planes; u++)
            for (int v = u; v < planes; v++)
                run[u * planes + v] += panel[u] * panel[v];
    for (int k = 0; k < planes * planes; k++)
        sums[k] += run[k];
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params);
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *sums = calloc(entries, sizeof *sums);
    float *room = malloc(entries * sizeof *room);
    float *panel = malloc(sizeof *panel * CORRELATION_RUN * (size_t)planes);
    enum status status = STATUS_OK;

    if (!sums || !room || !panel) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the sums of %d planes", planes);
        goto out;
    }
    for (int64_t first = 0; first < pixels; first += CORRELATION_RUN) {
        const int count = (int)(pixels - first < CORRELATION_RUN ? pixels - first : CORRELATION_RUN);
        correlation_load(in, params, first, count, panel, planes);
        add_run(panel, count, planes, room, sums);
    }
    correlation_finish(sums, in, params, out);
out:
    free(sums);
    free(room);
    free(panel);
    return status;
}

RUNGS_CPU_VERSION(correlation)
