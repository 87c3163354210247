#include "cpu/hough/shared/buffer.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* What all runs share. */
struct task {
    const struct points *points;
    const struct hough_angle *angles;
    const struct hough_params *params;
    struct hough_space space;
    buffer_voter *vote;
    struct image *out;
};

/* Clears row v and lets all points vote for it. */
static void fill_row(const struct buffer *buffer, const struct task *task, int v)
{
    const int rows = task->space.rows, n = v < 0 ? v + rows : v >= rows ? v - rows : v;
    struct hough_angle angle = task->angles[n];

    memset(buffer_row(buffer, v) - buffer->reach - buffer->radius, 0, (size_t)buffer->width * sizeof(int32_t));
    if (n != v && task->params->window == HOUGH_CROSS)
        return;
    if (n != v)
        angle = (struct hough_angle){-angle.cosine, -angle.sine};
    task->vote(buffer_row(buffer, v), task->points, angle, task->params, n);
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

/* 1 for a cell with enough votes that its four neighbours do not outdo, 0 for others. Of equal ones that with the smaller index counts,
 * also where theta goes round: row 0 lies before the last one. */
static void find_peaks(const struct buffer *buffer, const struct hough_params *params, int n, int from, int cells,
                       uint8_t *restrict peaks)
{
    const int32_t *restrict row = buffer_row(buffer, n) + from, threshold = params->threshold;
    const int32_t *restrict above = buffer_row(buffer, n - 1) + from;
    const int32_t *restrict below = buffer_row(buffer, n + 1) + from;
    const int32_t before = n > 0, behind = n + 1 == params->theta_steps;

    for (int i = 0; i < cells; i++)
        peaks[i] = (row[i] > threshold) & (row[i] > row[i - 1]) & (row[i] >= row[i + 1]) &
                   (row[i] >= above[i] + before) & (row[i] >= below[i] + behind);
}

/* Comparisons with four neighbours take vectors, and leave few cells whose whole neighbourhood is looked at. */
static enum status search_row(const struct buffer *buffer, const struct task *task, int n, struct hough_list *list)
{
    enum { STRETCH = 128 };
    const int32_t *row = buffer_row(buffer, n);
    enum status status = STATUS_OK;

    for (int from = -buffer->reach; from <= buffer->reach; from += STRETCH) {
        const int left = buffer->reach + 1 - from;
        uint8_t peaks[STRETCH] = {0};
        find_peaks(buffer, task->params, n, from, left < STRETCH ? left : STRETCH, peaks);
        for (int i = 0; i < STRETCH; i += 8) {
            uint64_t some;
            memcpy(&some, peaks + i, sizeof some);
            for (int k = i; some && k < i + 8 && status == STATUS_OK; k++) {
                const int cell = task->space.centre + from + k;
                if (peaks[k] && is_most(buffer, task->params, n, from + k))
                    status = hough_append(list, hough_key(task->space, n, cell, row[from + k]));
            }
        }
    }
    return status;
}

/* Rows first to last - 1, with the overlap that their neighbourhoods need. */
static enum status search_run(const struct task *task, int first, int last, struct hough_list *list)
{
    const struct hough_space space = task->space;
    const int radius = task->params->radius, width = 2 * (space.reach + radius) + 1, n = 2 * radius + 1;
    const struct buffer buffer = {calloc((size_t)width * (size_t)n, sizeof(int32_t)), n, width, space.reach, radius};
    const size_t cells = (size_t)(2 * space.reach + 1);
    struct image *accumulator = &task->out[1];
    enum status status = STATUS_OK;

    if (!buffer.counters)
        return status_set(STATUS_NO_MEMORY, "no memory for %d rows of %d counters", n, width);
    for (int v = first - radius; v < last + radius; v++) {
        fill_row(&buffer, task, v);
        if (accumulator->data && v >= first && v < last) {
            int32_t *row = image_row(accumulator, v);
            memset(row, 0, (size_t)space.cells * sizeof *row);
            memcpy(row + space.centre - space.reach, buffer_row(&buffer, v) - space.reach, cells * sizeof *row);
        }
        if (task->out[0].data && v >= first + radius)
            TRY(search_row(&buffer, task, v - radius, list));
    }
out:
    free(buffer.counters);
    return status;
}

enum status buffer_find_lines(const struct points *points, struct hough_space space, const struct hough_params *params,
                              buffer_voter *vote, int run, struct image *out)
{
    struct hough_angle *angles = malloc((size_t)space.rows * sizeof *angles);
    const struct task task = {points, angles, params, space, vote, out};
    const int threads = omp_get_max_threads(), runs = run ? (space.rows + run - 1) / run : threads;
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
