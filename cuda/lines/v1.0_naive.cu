/*
 * Problem:  cpu/serial computes each step (gray, edges, Hough transform) on one core.
 * Idea:     Each step is the cuda/v1.0 version of its ladder. Each frame has its own 12
 *           allocations, upload, kernels, download of the table of lines and frees
 *           (shared/finder.cu).
 * Expect:   30 times as fast as cpu/serial: upload and allocation take longer than the kernels.
 * Result:   11 times as fast as cpu/serial, 2.3 ms per frame
 *           (results/h100/lines/lines_1920x1080_climb.json): cpu/serial takes only 25 ms.
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
