/*
 * mutant.h: what the mutants of hough share: a right answer in parts, of which each of them spoils one.
 */
#ifndef RUNGS_HOUGH_MUTANT_H
#define RUNGS_HOUGH_MUTANT_H

#include "common/algo/hough.h"

typedef int mutant_offset(int x, int y, struct hough_angle angle);
typedef int32_t mutant_counter(int32_t votes);
typedef bool mutant_voter(const struct hough_params *params, int bin, int n);
typedef bool mutant_judge(const struct image *accumulator, struct hough_space space, int n, int r,
                          const struct hough_params *params);

static inline int32_t mutant_increment(int32_t votes)
{
    return votes + 1;
}

static inline enum status mutant_run(const struct image *in, struct image *out, const struct hough_params *params,
                                     mutant_offset *offset, mutant_counter *increment, mutant_voter *votes_for,
                                     mutant_judge *is_line)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    struct hough_angle *angles = malloc((size_t)space.rows * sizeof *angles);
    struct hough_direction *directions = malloc((size_t)(space.rows + 1) * sizeof *directions);
    struct image accumulator = {0};
    struct hough_gradient gradient = {0, 0};
    struct hough_list list = {0};
    enum status status = STATUS_OK;

    TRY(array_create(&accumulator, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(&accumulator, 0);
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int n = 0; hough_is_point(in, x, y, params, &gradient) && n < space.rows; n++)
                if (votes_for(params, hough_bin(directions, space.rows, gradient), n)) {
                    int32_t *counter = (int32_t *)image_row(&accumulator, n) + space.centre + offset(x, y, angles[n]);
                    *counter = increment(*counter);
                }
    for (int n = 0; out[0].data && n < space.rows; n++)
        for (int r = 0; r < space.cells; r++)
            if (is_line(&accumulator, space, n, r, params))
                TRY(hough_append(&list, hough_key(space, n, r, ((int32_t *)image_row(&accumulator, n))[r])));
    if (out[1].data)
        image_copy(&out[1], &accumulator);
    if (out[0].data)
        TRY(hough_write_lines(&list, space, params, &out[0]));
out:
    free(angles);
    free(directions);
    free(list.keys);
    image_free(&accumulator);
    return status;
}

#endif
