#include "cpu/hough/shared/ring.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The last n rows, from cell -reach to reach around the centre, with `radius` cells that stay 0 on either side. */
struct ring {
    int32_t *counters;
    uint8_t *peaks; /* of a row */
    int n, width, reach, radius;
};

/* What all runs share. */
struct task {
    const struct points *points;
    const struct hough_angle *angles;
    const struct hough_params *params;
    struct hough_space space;
    ring_voter *vote;
    struct image *out;
};

/* The centre of row v, which may lie outside the accumulator. */
static int32_t *ring_row(const struct ring *ring, int v)
{
    return ring->counters + (v + ring->n) % ring->n * ring->width + ring->radius + ring->reach;
}

/* Clears row v and lets all points vote for it. */
static void fill_row(const struct ring *ring, const struct task *task, int v)
{
    const int rows = task->space.rows, n = v < 0 ? v + rows : v >= rows ? v - rows : v;
    struct hough_angle angle = task->angles[n];

    memset(ring_row(ring, v) - ring->reach - ring->radius, 0, (size_t)ring->width * sizeof(int32_t));
    if (n != v && task->params->window == HOUGH_CROSS)
        return;
    if (n != v)
        angle = (struct hough_angle){-angle.cosine, -angle.sine};
    task->vote(ring_row(ring, v), task->points, angle, task->params, n);
}

/* Whether no cell around (n, i) has more votes, and none of smaller index as many. */
static bool is_most(const struct ring *ring, const struct hough_params *params, int n, int i)
{
    const int32_t own = ring_row(ring, n)[i];

    for (int j = -ring->radius; j <= ring->radius; j++) {
        const int32_t *row = ring_row(ring, n + j) + i;
        const bool before = n + j < 0 ? false : n + j >= params->theta_steps || j < 0;
        for (int k = -ring->radius; k <= ring->radius; k++)
            if (params->window != HOUGH_CROSS || (j == 0) != (k == 0))
                if (before || (j == 0 && k < 0) ? row[k] >= own : row[k] > own)
                    return false;
    }
    return true;
}

/* A peak is above the threshold, and no neighbour of the four exceeds it. Of equal cells that with the smaller index
 * counts, also where theta wraps: row 0 lies before the last row. Vectors find peaks; then their whole windows are
 * compared. */
static enum status search_row(const struct ring *ring, const struct task *task, int n, struct hough_list *list)
{
    const int32_t *row = ring_row(ring, n), *above = ring_row(ring, n - 1), *below = ring_row(ring, n + 1);
    const int32_t before = n > 0, behind = n + 1 == task->params->theta_steps, threshold = task->params->threshold;
    uint8_t *peak = ring->peaks, *end = peak + 2 * ring->reach + 1;
    enum status status = STATUS_OK;

#pragma omp simd
    for (int i = -ring->reach; i <= ring->reach; i++)
        peak[i + ring->reach] = (row[i] > threshold) & (row[i] > row[i - 1]) & (row[i] >= row[i + 1]) &
                                (row[i] >= above[i] + before) & (row[i] >= below[i] + behind);
    for (; status == STATUS_OK && (peak = memchr(peak, 1, (size_t)(end - peak))); peak++) {
        const int i = (int)(peak - ring->peaks) - ring->reach;
        if (is_most(ring, task->params, n, i))
            status = hough_append(list, hough_key(task->space, n, task->space.centre + i, row[i]));
    }
    return status;
}

/* Rows first to last - 1, with the rows beyond either end that their neighbourhoods need. */
static enum status search_run(const struct task *task, int first, int last, struct hough_list *list)
{
    const struct hough_space space = task->space;
    const int radius = task->params->radius, width = 2 * (space.reach + radius) + 1, n = 2 * radius + 1;
    const struct ring ring = {
        calloc((size_t)width * (size_t)n, sizeof(int32_t)), malloc((size_t)width), n, width, space.reach, radius};
    enum status status = STATUS_OK;

    if (!ring.counters || !ring.peaks)
        status = status_set(STATUS_NO_MEMORY, "no memory for %d rows of %d counters", n, width);
    for (int v = first - radius; status == STATUS_OK && v < last + radius; v++) {
        fill_row(&ring, task, v);
        for (int i = 0; task->out[1].data && v >= first && v < last && i < space.cells; i++)
            ((int32_t *)image_row(&task->out[1], v))[i] =
                abs(i - space.centre) <= space.reach ? ring_row(&ring, v)[i - space.centre] : 0;
        if (task->out[0].data && v >= first + radius)
            status = search_row(&ring, task, v - radius, list);
    }
    free(ring.counters);
    free(ring.peaks);
    return status;
}

enum status ring_find_lines(const struct points *points, struct hough_space space, const struct hough_params *params,
                            ring_voter *vote, int run, struct image *out)
{
    struct hough_angle *angles = malloc((size_t)space.rows * sizeof *angles);
    const struct task task = {points, angles, params, space, vote, out};
    const int runs = run ? (space.rows + run - 1) / run : omp_get_max_threads();
    struct hough_list list = {0}, *lists = calloc((size_t)runs, sizeof *lists);
    enum status status = STATUS_OK;

    if (!angles || !lists) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d angles", space.rows);
        goto out;
    }
    hough_make_angles(params, angles);
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < runs; i++) {
        const int first = (int)((int64_t)space.rows * i / runs), last = (int)((int64_t)space.rows * (i + 1) / runs);
        const enum status found = search_run(&task, first, last, &lists[i]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, runs, &list));
    TRY(status);
    if (out[0].data)
        TRY(hough_write_lines(&list, space, params, &out[0]));
out:
    free(angles);
    free(lists);
    free(list.keys);
    return status;
}
