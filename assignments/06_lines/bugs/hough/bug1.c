/*
 * Idea:     the accumulator is searched by all threads; the comparison is the version's own.
 * Changed:  a row is searched by one thread, and its lines are put behind those of the rows before it.
 * Expect:   a search as many times as fast as there are threads.
 */
#include <stdlib.h>

#include "common/algo/hough.h"

/* The votes of a cell of the neighbourhood of row n, j rows away; nobody has voted for cells outside. */
static int votes_at(const struct image *accumulator, struct hough_space space, int n, int j, int r)
{
    const int row = n + j;

    if (row < 0 || row >= space.rows || r < 0 || r >= space.cells)
        return 0;
    return ((const int32_t *)image_row(accumulator, row))[r];
}

/* Of equal cells the one with the smallest index counts. */
static bool is_line(const struct image *accumulator, struct hough_space space, const struct hough_params *params, int n,
                    int r)
{
    const int own = votes_at(accumulator, space, n, 0, r), radius = params->radius;

    for (int j = -radius; j <= radius && own > params->threshold; j++) {
        const bool before = n + j >= space.rows || (n + j >= 0 && j < 0);
        for (int i = -radius; i <= radius; i++) {
            const int other = votes_at(accumulator, space, n, j, r + i);
            if (params->window == HOUGH_CROSS ? (i != 0) == (j != 0) : i == 0 && j == 0)
                continue;
            if (before || (j == 0 && i < 0) ? other >= own : other > own)
                return false;
        }
    }
    return own > params->threshold;
}

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct hough_params *params, struct image *lines)
{
    struct hough_list list = {0}, *lists = calloc((size_t)space.rows, sizeof *lists);
    enum status status = STATUS_OK;

    if (!lists)
        return status_set(STATUS_NO_MEMORY, "no memory for %d lists", space.rows);
#pragma omp parallel for schedule(dynamic)
    for (int n = 0; n < space.rows; n++) {
        enum status found = STATUS_OK;
        for (int r = 0; r < space.cells && found == STATUS_OK; r++)
            if (is_line(accumulator, space, params, n, r))
                found = hough_append(&lists[n], hough_key(space, n, r, votes_at(accumulator, space, n, 0, r)));
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, space.rows, &list));
    TRY(status);
    TRY(hough_write_lines(&list, space, params, lines));
out:
    free(lists);
    free(list.keys);
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    struct image scratch = {0}, *accumulator = out[1].data ? &out[1] : &scratch;
    struct hough_angle *angles = malloc((size_t)space.rows * sizeof *angles);
    struct hough_direction *directions = malloc(((size_t)space.rows + 1) * sizeof *directions);
    struct hough_gradient gradient = {0, 0};
    enum status status = STATUS_OK;

    if (!angles || !directions) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d angles", space.rows);
        goto out;
    }
    if (!out[1].data)
        TRY(array_create(&scratch, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(accumulator, 0);
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            if (!hough_is_point(in, x, y, params, &gradient))
                continue;
            const int bin = hough_bin(directions, space.rows, gradient);
            for (int n = 0; n < space.rows; n++)
                if (hough_votes_for(params, bin, n))
                    ((int32_t *)image_row(accumulator, n))[space.centre + hough_offset(x, y, angles[n])]++;
        }
    if (out[0].data)
        TRY(find_lines(accumulator, space, params, &out[0]));
out:
    image_free(&scratch);
    free(angles);
    free(directions);
    return status;
}

RUNGS_CPU_VERSION(hough)
