/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/pclines/0_serial.c)
 * Expect:   (how much memory it needs for 65535x4 pixels and d=2048, in place of how much, and how many votes it counts
 *           twice; write it BEFORE you measure)
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/pclines.h"

struct points {
    int count, *x, *y; /* from the middle of the picture */
};

static enum status list_points(const struct image *in, struct points *points)
{
    const size_t most = (size_t)in->width * (size_t)in->height;

    points->x = malloc(most * sizeof *points->x);
    points->y = malloc(most * sizeof *points->y);
    if (!points->x || !points->y)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", most);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (((const uint8_t *)image_row(in, y))[x]) {
                points->x[points->count] = x - in->width / 2;
                points->y[points->count++] = y - in->height / 2;
            }
    return STATUS_OK;
}

/* Rows of `width` counters, of which `radius` at either end stay 0. */
struct ring {
    int32_t *counters;
    int rows, width, radius;
};

/* Cell 0 of row v, which may lie beyond either end of the space. */
static int32_t *ring_row(const struct ring *ring, int v)
{
    return ring->counters + (size_t)((v + ring->rows) % ring->rows) * (size_t)ring->width + ring->radius;
}

/* Task 3: the lines of rows first to last - 1. */
static enum status search_run(const struct points *points, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct hough_list *list)
{
    (void)points, (void)space, (void)params, (void)first, (void)last, (void)list;
    (void)ring_row;
    return status_set(STATUS_FAILED, "ring.c is not written yet");
}

static enum status run(const struct image *in, struct image *out, const struct pclines_params *params)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const int runs = omp_get_max_threads();
    struct hough_list list = {0}, *lists = calloc((size_t)runs, sizeof *lists);
    struct points points = {0};
    enum status status = STATUS_OK;

    if (!lists)
        return status_set(STATUS_NO_MEMORY, "no memory for %d lists", runs);
    TRY(list_points(in, &points));
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < runs; i++) {
        const enum status found =
            search_run(&points, space, params, space.rows * i / runs, space.rows * (i + 1) / runs, &lists[i]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, runs, &list));
    TRY(status);
    TRY(pclines_write_lines(&list, NULL, in, params, out));
out:
    free(points.x);
    free(points.y);
    free(lists);
    free(list.keys);
    return status;
}

RUNGS_CPU_VERSION(pclines)
