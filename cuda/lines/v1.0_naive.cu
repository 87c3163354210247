/*
 * Idea:     every step is kernels, the cuda/v1.0 version of its ladder, and a frame is computed as if it were the only one:
 *           allocate, upload, find, download, free. Only the table of lines comes back.
 * Changed:  the steps moved to the device. A step is its version's setup() and launch().
 * Expect:   30 times the frames of cpu/serial at 1920x1080: 0.4 ms of votes and 0.1 ms of edges, but 6.2 MB of a frame through
 *           pageable memory, 0.7 ms, and 20 allocations, 2 ms.
 * Result:   missed: 8.5 times cpu/serial, 2.4 ms (results/h200/lines/lines_1920x1080.json), because cpu/serial takes
 *           only 20 ms there.
 */
/* Try: make bench-lines VERSIONS=cuda/v1.0,cuda/v1.1 */
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
