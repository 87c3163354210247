/*
 * Problem:  cuda/v1.1 has simple versions of gray, edges and Hough transform: kernels take 0.12 ms.
 * Idea:     Each step is the fastest version of its ladder. Only the four names in `ids` change,
 *           because every version has the same setup() and launch().
 * Expect:   0.9 ms per frame, of which pageable copies are four fifths.
 * Result:   1.04 times as fast as cuda/v1.1, 1.32 ms per frame
 *           (results/h100/lines/lines_1920x1080_climb.json): kernels take 0.08 ms, the upload 1.1
 *           ms.
 * Run:      make diff-lines A=cuda/v1.1 B=cuda/v1.2
 */
#include "cuda/lines/shared/finder.h"

static const struct lines_ids ids = {"cuda/v1.3", "cuda/v2.0", "cuda/v2.1", "cuda/v2.0"};

struct state {
    struct line_finder finder;
    struct image submitted; /* not yet received; the pixels are the caller's */
};

static enum status start(struct state *state, const struct image *first, const struct lines_params *params)
{
    struct line_finder *finder = &state->finder;
    enum status status = STATUS_OK;

    if (finder->lines.data)
        return STATUS_OK;
    TRY(line_finder_open(finder, &ids, first, params));
    TRY(array_create(&finder->lines, finder->table.width, finder->table.height, 1, PIXEL_F32));
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->submitted = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    return line_finder_find(&state->finder, &state->submitted, result);
}

static void teardown(struct state *state)
{
    line_finder_close(&state->finder);
    image_free(&state->finder.lines);
}

RUNGS_PIPELINE_VERSION(lines, .depth = 1, .on_device = true)
