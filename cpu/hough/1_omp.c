/*
 * Problem:  cpu/serial uses one core. Threads that share out points would add to the same counters.
 * Idea:     A thread owns rows of the accumulator instead of points, so no vote (adding 1 to a
 *           counter) needs an atomic operation. Each thread reads all pixels.
 * Expect:   As many times as fast as cpu/serial as there are threads: only the search for points is
 *           repeated.
 * Result:   7.4 times as fast as cpu/serial with 16 threads, 25 ms
 *           (results/h100/hough/hough_1920x1080.json); the reason is not known.
 * Run:      make diff-hough A=cpu/serial B=cpu/omp
 */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/hough.h"

static void vote(const struct image *accumulator, struct hough_space space, const struct hough_params *params,
                 const struct hough_angle *angles, int x, int y, int bin, int first, int last)
{
    for (int n = first; n < last; n++)
        if (hough_votes_for(params, bin, n))
            ((int32_t *)image_row(accumulator, n))[space.centre + hough_offset(x, y, angles[n])]++;
}

static enum status find_lines(const struct image *accumulator, struct hough_space space,
                              const struct hough_params *params, int first, int last, struct hough_list *list)
{
    enum status status = STATUS_OK;

    for (int n = first; n < last; n++)
        for (int r = 0; r < space.cells; r++)
            if (status == STATUS_OK && hough_is_line(accumulator, space, n, r, params))
                status = hough_append(list, hough_key(space, n, r, ((const int32_t *)image_row(accumulator, n))[r]));
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const size_t rows = (size_t)space.rows;
    struct image scratch = {0}, *accumulator = out[1].data ? &out[1] : &scratch;
    struct hough_angle *angles = malloc(rows * sizeof *angles);
    struct hough_direction *directions = malloc((rows + 1) * sizeof *directions);
    const int threads = omp_get_max_threads();
    struct hough_list list = {0}, *lists = calloc((size_t)threads, sizeof *lists);
    enum status status = STATUS_OK;

    if (!angles || !directions || !lists) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %zu angles", rows);
        goto out;
    }
    if (!out[1].data)
        TRY(array_create(&scratch, space.cells, space.rows, 1, PIXEL_I32));
    image_fill(accumulator, 0);
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), all = omp_get_num_threads();
        const int first = space.rows * thread / all, last = space.rows * (thread + 1) / all;
        struct hough_gradient gradient = {0, 0};
        enum status found = STATUS_OK;
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                if (hough_is_point(in, x, y, params, &gradient))
                    vote(accumulator, space, params, angles, x, y, hough_bin(directions, space.rows, gradient), first,
                         last);
#pragma omp barrier
        if (out[0].data)
            found = find_lines(accumulator, space, params, first, last, &lists[thread]);
#pragma omp critical
        status = found == STATUS_OK ? status : found;
    }
    TRY(hough_join(lists, threads, &list));
    TRY(status);
    if (out[0].data)
        TRY(hough_write_lines(&list, space, params, &out[0]));
out:
    image_free(&scratch);
    free(angles);
    free(directions);
    free(lists);
    free(list.keys);
    return status;
}

RUNGS_CPU_VERSION(hough)
