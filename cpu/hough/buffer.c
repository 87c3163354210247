/*
 * Idea:     the circular buffer (document 003, algorithm 4): a line is told by n rows of the accumulator, n the height of
 *           its neighbourhood, so there never are more than n: as one is searched, the next takes the place of the oldest.
 *           The document's loop leaves out the rows at both ends; here theta wraps: a row below 0 or above the last is that
 *           of pi more or less, with rho reversed.
 * Changed:  struct buffer in place of the accumulator; a thread searches a run of rows, and computes n / 2 rows beyond it
 *           at either end for itself.
 * Expect:   a third faster than rows at 1 degree: 4.3 MB of accumulator are neither made nor cleared nor searched in
 *           memory, which takes 1.5 of its 8 ms; more with more rows.
 * From:     cpu/rows
 */
/* Try: make bench-hough */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/hough.h"
#include "cpu/hough/steps/points.h"

struct state {
    struct points points;
};

/* The last n rows, from cell -reach to reach around the centre, with `radius` cells that stay 0 on either side. */
struct buffer {
    int32_t *counters;
    int n, width, reach, radius;
};

/* The centre of row v, which may lie outside the accumulator. */
static int32_t *buffer_row(const struct buffer *buffer, int v)
{
    return buffer->counters + (v + buffer->n) % buffer->n * buffer->width + buffer->radius + buffer->reach;
}

static void vote(int32_t *centre, const struct points *points, struct hough_angle angle,
                 const struct hough_params *params, int n)
{
    for (size_t i = 0; i < points->count; i++)
        if (params->half_width == HOUGH_ALL_ROWS || hough_votes_for(params, points->bins[i], n))
            centre[hough_offset((int)points->x[i], (int)points->y[i], angle)]++;
}

/* Clears row v and lets all points vote for it. */
static void fill_row(const struct buffer *buffer, const struct points *points, const struct hough_angle *angles,
                     const struct hough_params *params, int v)
{
    const int rows = params->theta_steps, n = v < 0 ? v + rows : v >= rows ? v - rows : v;
    struct hough_angle angle = angles[n];

    memset(buffer_row(buffer, v) - buffer->reach - buffer->radius, 0, (size_t)buffer->width * sizeof(int32_t));
    if (n != v && params->window == HOUGH_CROSS)
        return;
    if (n != v)
        angle = (struct hough_angle){-angle.cosine, -angle.sine};
    vote(buffer_row(buffer, v), points, angle, params, n);
}

/* Whether no cell around (n, i) has more votes, and none of smaller index as many. */
static bool is_most(const struct buffer *buffer, const struct hough_params *params, int n, int i)
{
    const int32_t own = buffer_row(buffer, n)[i];

    for (int j = -buffer->radius; j <= buffer->radius; j++) {
        const int32_t *row = buffer_row(buffer, n + j) + i;
        const bool before = n + j < 0 ? false : n + j >= params->theta_steps || j < 0;
        for (int k = -buffer->radius; k <= buffer->radius; k++)
            if (params->window != HOUGH_CROSS || (j == 0) != (k == 0))
                if (before || (j == 0 && k < 0) ? row[k] >= own : row[k] > own)
                    return false;
    }
    return true;
}

static enum status search_row(const struct buffer *buffer, struct hough_space space, const struct hough_params *params,
                              int n, struct hough_list *list)
{
    const int32_t *row = buffer_row(buffer, n);
    enum status status = STATUS_OK;

    for (int i = -buffer->reach; i <= buffer->reach && status == STATUS_OK; i++)
        if (row[i] > params->threshold && is_most(buffer, params, n, i))
            status = hough_append(list, hough_key(space, n, space.centre + i, row[i]));
    return status;
}

/* Rows first to last - 1, with the overlap that their neighbourhoods need. */
static enum status search_run(struct hough_space space, const struct points *points, const struct hough_angle *angles,
                              const struct hough_params *params, int first, int last, struct image *out,
                              struct hough_list *list)
{
    const int radius = params->radius, width = 2 * (space.reach + radius) + 1, n = 2 * radius + 1;
    const struct buffer buffer = {calloc((size_t)width * (size_t)n, sizeof(int32_t)), n, width, space.reach, radius};
    const size_t cells = (size_t)(2 * space.reach + 1);
    enum status status = STATUS_OK;

    if (!buffer.counters)
        return status_set(STATUS_NO_MEMORY, "no memory for %d rows of %d counters", n, width);
    for (int v = first - radius; v < last + radius; v++) {
        fill_row(&buffer, points, angles, params, v);
        if (out[1].data && v >= first && v < last) {
            int32_t *row = image_row(&out[1], v);
            memset(row, 0, (size_t)space.cells * sizeof *row);
            memcpy(row + space.centre - space.reach, buffer_row(&buffer, v) - space.reach, cells * sizeof *row);
        }
        if (out[0].data && v >= first + radius)
            TRY(search_row(&buffer, space, params, v - radius, list));
    }
out:
    free(buffer.counters);
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    struct hough_angle *angles = malloc((size_t)space.rows * sizeof *angles);
    struct hough_direction *directions = malloc((size_t)(space.rows + 1) * sizeof *directions);
    const int threads = omp_get_max_threads();
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    enum status status = STATUS_OK;

    if (!angles || !directions || !lists) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d angles", space.rows);
        goto out;
    }
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
    TRY(points_find(in, params, directions, &state->points));
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        const int first = space.rows * t / threads, last = space.rows * (t + 1) / threads;
        const enum status found = search_run(space, &state->points, angles, params, first, last, out, &lists[t]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, threads, &list));
    TRY(status);
    if (out[0].data)
        TRY(hough_write_lines(&list, space, params, &out[0]));
out:
    free(angles);
    free(directions);
    free(lists);
    free(list.keys);
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
}

RUNGS_CPU_VERSION_WITH_STATE(hough)
