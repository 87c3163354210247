/*
 * Problem:  cpu/rows makes, clears and searches an accumulator of 4.3 MB, of which a thread uses
 *           one row at a time.
 * Idea:     A ring buffer (Jošth 2014, algorithm 4): the window of a line has n rows, so only n
 *           rows exist, 27 KB for n = 3. A row is searched as soon as its neighbours are there
 *           (shared/ring.h).
 * Expect:   1.2 times cpu/rows: the accumulator takes 1.5 of 8 ms; more for more rows.
 * Result:   1.3 times cpu/rows (results/cpu2/hough/hough_1920x1080.json).
 * Run:      make diff-hough A=cpu/rows B=cpu/ring_buffer
 */
#include "common/algo/hough.h"
#include "cpu/hough/shared/ring.h"

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

    TRY(points_find(in, params, &state->points, true));
    TRY(ring_find_lines(&state->points, space, params, vote, 0, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    points_free(&state->points);
}

RUNGS_CPU_VERSION_WITH_STATE(hough)
