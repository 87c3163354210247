/*
 * Problem:  cpu/rows allocates, clears and searches an accumulator of 4.3 MB, more than L1 holds.
 * Idea:     A ring buffer (Jošth 2014, algorithm 4): whether a cell is a line depends on n rows (3
 *           by default), so a thread keeps only n rows, 18 KB each, lets the points vote (add 1) in
 *           them, and searches a row as soon as the rows beside it are there (shared/ring.h).
 * Expect:   1.2 times as fast as cpu/rows: no accumulator is allocated, cleared and read again.
 * Result:   0.91 times as fast as cpu/rows with 16 threads, 18 ms
 *           (results/h100/hough/hough_1920x1080.json); the reason is not known.
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
