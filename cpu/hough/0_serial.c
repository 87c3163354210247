/*
 * Idea:     The definition of the Hough transform: a line is an angle (a row of the accumulator)
 *           and a distance (a cell of the row). Each edge point votes: in each row it adds 1 to the
 *           cell of the line through it. A cell above the threshold with more votes than its
 *           neighbours is a line.
 * Expect:   35 ms: 95,000 points vote in 180 rows, 17 million votes of 2 ns each. The cells of one
 *           point lie in 180 rows of 24 KB, 4.3 MB in all, so nearly every vote misses the L1
 *           cache.
 * Run:      make bench-hough VERSIONS=cpu
 */
#include <stdlib.h>

#include "common/algo/hough.h"

static void vote(const struct image *accumulator, struct hough_space space, const struct hough_params *params,
                 const struct hough_angle *angles, int x, int y, int bin)
{
    for (int n = 0; n < space.rows; n++)
        if (hough_votes_for(params, bin, n))
            ((int32_t *)image_row(accumulator, n))[space.centre + hough_offset(x, y, angles[n])]++;
}

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct hough_params *params, struct image *lines)
{
    struct hough_list list = {0};
    enum status status = STATUS_OK;

    for (int n = 0; n < space.rows; n++)
        for (int r = 0; r < space.cells; r++)
            if (status == STATUS_OK && hough_is_line(accumulator, space, n, r, params))
                status = hough_append(&list, hough_key(space, n, r, ((const int32_t *)image_row(accumulator, n))[r]));
    return status == STATUS_OK ? hough_write_lines(&list, space, params, lines) : status;
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const size_t rows = (size_t)space.rows;
    struct image scratch = {0}, *accumulator = out[1].data ? &out[1] : &scratch;
    struct hough_angle *angles = malloc(rows * sizeof *angles);
    struct hough_direction *directions = malloc((rows + 1) * sizeof *directions);
    struct hough_gradient gradient = {0, 0};
    enum status status = STATUS_OK;

    if (!angles || !directions) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %zu angles", rows);
        goto out;
    }
    if (!out[1].data)
        TRY(array_create(&scratch, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(accumulator, 0);
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (hough_is_point(in, x, y, params, &gradient))
                vote(accumulator, space, params, angles, x, y, hough_bin(directions, space.rows, gradient));
    if (out[0].data)
        TRY(find_lines(accumulator, space, params, &out[0]));
out:
    image_free(&scratch);
    free(angles);
    free(directions);
    return status;
}

RUNGS_CPU_VERSION(hough)
