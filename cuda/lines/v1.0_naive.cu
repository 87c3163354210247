/*
 * Problem:  cpu/serial computes each step on one core.
 * Idea:     Each step is the cuda/v1.0 version of its ladder, and a frame is computed as if it were
 *           the only one: allocate, upload, find, download, free. Only the table comes back.
 * Expect:   30 times cpu/serial: kernels take 0.5 ms; but 6.2 MB of a frame through pageable memory
 *           take 0.7 ms, and 20 allocations 2 ms.
 * Result:   8.5 times cpu/serial, 2.4 ms (results/h200/lines/lines_1920x1080.json).
 * Run:      make bench-lines VERSIONS=cuda
 */
#include "cuda/lines/shared/finder.h"

static const struct lines_ids ids = {"cuda/v1.0", "cuda/v1.0", "cuda/v1.0", "cuda/v1.0"};

struct state {
    struct line_finder finder;
    struct lines_params params;
    struct image submitted; /* not yet received; the pixels are the caller's */
};

static enum status start(struct state *state, const struct image *first, const struct lines_params *params)
{
    (void)first;
    state->params = *params;
    return STATUS_OK;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->submitted = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    struct line_finder *finder = &state->finder;
    enum status status = STATUS_OK;

    TRY(line_finder_open(finder, &ids, &state->submitted, &state->params));
    TRY(array_create(&finder->lines, finder->table.width, finder->table.height, 1, PIXEL_F32));
    TRY(line_finder_find(finder, &state->submitted, result));
out:
    line_finder_close(finder);
    image_free(&finder->lines);
    return status;
}

static void teardown(struct state *state)
{
    line_finder_close(&state->finder);
    image_free(&state->finder.lines);
}

RUNGS_PIPELINE_VERSION(lines, .depth = 1, .on_device = true)
