/*
 * Idea:     the circular buffer: of the accumulator there are only the n rows that the neighbourhood of a line needs
 *           (shared/buffer.h), 27 KB with n = 3 where the whole has 4.3 MB.
 * Changed:  shared/buffer.c has the loop over rows, and searches a row as soon as its neighbours are there.
 * Expect:   a fifth faster than rows at 1 degree: the accumulator is neither made nor cleared nor searched in memory, which
 *           takes 1.5 of its 8 ms; more with more rows.
 * Result:   1.3 times rows (results/cpu2/hough/hough_1920x1080.json), a little more than predicted.
 * From:     cpu/rows
 */
/* Try: make bench-hough */

#include "cpu/hough/shared/buffer.h"
#include "common/algo/hough.h"

struct state {
    struct points points;
};

static void vote(int32_t *centre, const struct points *points, struct hough_angle angle,
                 const struct hough_params *params, int n)
{
    for (size_t i = 0; i < points->count; i++)
        if (params->half_width == HOUGH_ALL_ROWS || hough_votes_for(params, points->bins[i], n))
            centre[hough_offset((int)points->x[i], (int)points->y[i], angle)]++;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    enum status status = STATUS_OK;

    TRY(points_find(in, params, &state->points));
    TRY(buffer_find_lines(&state->points, space, params, vote, 0, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
}

RUNGS_CPU_VERSION_WITH_STATE(hough)
