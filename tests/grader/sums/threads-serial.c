/* expect: right 7..7 | the same bits with one thread and with seven 0..0 | speed 0..0 | says at work */
/*
 * Idea:     no threads: then the bits are the same with any number of them.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/correlation.h"

/* One column of the triangle after the other, over a run that was loaded once; nobody shares anything. */
static double pair_of(const float *panel, int count, int planes, int u, int v)
{
    float lanes[8] = {0}, all = 0;
    int i = 0;

    for (; i + 8 <= count; i += 8)
        for (int lane = 0; lane < 8; lane++)
            lanes[lane] += panel[(i + lane) * planes + u] * panel[(i + lane) * planes + v];
    while (i < count) {
        all += panel[i * planes + u] * panel[i * planes + v];
        i++;
    }
    for (int lane = 0; lane < 8; lane++)
        all += lanes[lane];
    return all;
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int planes = correlation_planes(in, params);
    int64_t left = (int64_t)in->width * in->height, at = 0;
    double *triangle = calloc((size_t)planes * (size_t)planes, sizeof *triangle);
    float *panel = malloc(sizeof *panel * CORRELATION_RUN * (size_t)planes);

    if (!triangle || !panel)
        return status_set(STATUS_NO_MEMORY, "no memory");
    while (left > 0) {
        const int count = left > CORRELATION_RUN ? CORRELATION_RUN : (int)left;
        correlation_load(in, params, at, count, panel, planes);
        for (int v = planes - 1; v >= 0; v--)
            for (int u = v; u >= 0; u--)
                triangle[u * planes + v] += pair_of(panel, count, planes, u, v);
        at += count;
        left -= count;
    }
    correlation_finish(triangle, in, params, out);
    free(panel);
    free(triangle);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(correlation)
