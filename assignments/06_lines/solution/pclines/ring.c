/*
 * Idea:     of the accumulator there are only the n rows that the neighbourhood of a line needs: a ring, in which the
 *           next row takes the place of the oldest. A thread has a run of rows, and computes the n / 2 beyond either
 *           end for itself.
 * Changed:  no accumulator: memory became votes that are counted twice.
 * Expect:   4096 rows of 65,541 counters are 1.07 GB, which nobody clears or searches any more; 9 of them are 2.4 MB.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* Row v in the place of the oldest. Beyond the ends it is a row of the other end, with v reversed. */
static void fill_row(const struct ring *ring, const struct points *points, struct hough_space space,
                     const struct pclines_params *params, int v)
{
    const int n = v < 0 ? v + space.rows : v >= space.rows ? v - space.rows : v;
    int32_t *row = ring_row(ring, v), *centre = row + space.centre;

    memset(row - ring->radius, 0, (size_t)ring->width * sizeof *row);
    for (int i = 0; n == v && i < points->count; i++)
        centre[pclines_offset(points->x[i], points->y[i], n, params)]++;
    for (int i = 0; n != v && i < points->count; i++)
        centre[-pclines_offset(points->x[i], points->y[i], n, params)]++;
}

/* Of a cell with more votes than the threshold. Of equal cells the one with the smallest index counts; a row beyond the
 * start has a larger one, a row beyond the end a smaller one. */
static bool is_line(const struct ring *ring, struct hough_space space, int n, int r)
{
    const int own = ring_row(ring, n)[r];

    for (int j = -ring->radius; j <= ring->radius; j++) {
        const bool before = n + j >= space.rows || (n + j >= 0 && j < 0);
        const int32_t *row = ring_row(ring, n + j) + r;
        for (int i = -ring->radius; i <= ring->radius; i++)
            if ((j != 0 || i != 0) && (before || (j == 0 && i < 0) ? row[i] >= own : row[i] > own))
                return false;
    }
    return true;
}

/* The lines of rows first to last - 1. */
static enum status search_run(const struct points *points, struct hough_space space,
                              const struct pclines_params *params, int first, int last, struct hough_list *list)
{
    const int radius = params->hough.radius, n = 2 * radius + 1, width = space.cells + 2 * radius;
    const struct ring ring = {malloc((size_t)n * (size_t)width * sizeof(int32_t)), n, width, radius};
    enum status status = STATUS_OK;

    if (!ring.counters)
        return status_set(STATUS_NO_MEMORY, "no memory for %d rows of %d counters", n, width);
    for (int v = first - radius; v < last + radius; v++) {
        const int middle = v - radius;
        const int32_t *row = ring_row(&ring, middle < first ? v : middle);
        fill_row(&ring, points, space, params, v);
        for (int r = 0; middle >= first && r < space.cells && status == STATUS_OK; r++)
            if (row[r] > params->hough.threshold && is_line(&ring, space, middle, r))
                status = hough_append(list, hough_key(space, middle, r, row[r]));
    }
    free(ring.counters);
    return status;
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
