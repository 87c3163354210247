/*
 * Problem:  In cuda/v1.1 each step is the simplest version of its ladder; kernels take 0.5 ms.
 * Idea:     Each step is the fastest rung of its ladder. Only the four names change: a step is its
 *           version's setup() and launch().
 * Expect:   0.15 ms of kernels, 0.9 ms a frame: the copies of pageable memory are four fifths of
 *           that.
 * Result:   1.1 times cuda/v1.1, 1.6 ms (results/h200/lines/lines_1920x1080.json): Amdahl's law;
 *           kernels take 81 us, the upload 1.3 ms.
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
