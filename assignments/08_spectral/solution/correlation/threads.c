/*
 * Idea:     the pixels are cut into 16 pieces, each with sums of its own; threads take pieces, and at the end one
 *           thread adds the pieces in their order.
 * Changed:  the loop over runs is inside one over pieces, which do not depend on the number of threads.
 * Expect:   1.9 times as fast on two cores, and the same bits with any number of threads: no sum depends on who was
 *           first.
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/correlation.h"

enum { PIECES = 16 };

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

/* The sums of the pixels from `first` to `last` - 1. */
static bool add_piece(const struct image *in, const struct correlation_params *params, int64_t first, int64_t last,
                      double *sums)
{
    const int planes = correlation_planes(in, params);
    float *room = malloc(sizeof *room * (size_t)planes * (size_t)planes);
    float *panel = malloc(sizeof *panel * CORRELATION_RUN * (size_t)planes);
    const bool ready = room && panel;

    for (; ready && first < last; first += CORRELATION_RUN) {
        const int count = (int)(last - first < CORRELATION_RUN ? last - first : CORRELATION_RUN);
        correlation_load(in, params, first, count, panel, planes);
        add_run(panel, count, planes, room, sums);
    }
    free(room);
    free(panel);
    return ready;
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params);
    const int64_t pixels = (int64_t)in->width * in->height;
    const size_t entries = (size_t)planes * (size_t)planes;
    double *sums = calloc(PIECES * entries, sizeof *sums);
    bool ready = sums;

#pragma omp parallel for schedule(dynamic) reduction(&& : ready)
    for (int piece = 0; piece < PIECES; piece++)
        ready = ready && add_piece(in, params, pixels * piece / PIECES, pixels * (piece + 1) / PIECES,
                                   sums + (size_t)piece * entries);
    for (size_t k = entries; ready && k < PIECES * entries; k++)
        sums[k % entries] += sums[k];
    if (ready)
        correlation_finish(sums, in, params, out);
    free(sums);
    return ready ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for the sums of %d planes", planes);
}

RUNGS_CPU_VERSION(correlation)
