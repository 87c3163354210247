/*
 * Problem:  cuda/v1.0 allocates device memory 12 times per frame.
 * Idea:     Persistent buffers: start() allocates for the whole video and teardown() frees. The
 *           steps (gray, edges, Hough transform) are the cuda/v1.1 versions of their ladders.
 * Expect:   2 ms less per frame than cuda/v1.0, for nothing is allocated or freed.
 * Result:   1.7 times as fast as cuda/v1.0, 0.95 ms less per frame
 *           (results/h100/lines/lines_1920x1080_climb.json): allocating and freeing took 1.1 ms.
 * Run:      make diff-lines A=cuda/v1.0 B=cuda/v1.1
 */
#include "cuda/lines/shared/finder.h"

static const struct lines_ids ids = {"cuda/v1.1", "cuda/v1.1", "cuda/v1.1", "cuda/v1.1"};

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
