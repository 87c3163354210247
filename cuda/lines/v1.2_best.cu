/*
 * Idea:     of each step the best rung of its ladder: pixels as words, edges marked and planted in one pass, hough with counters of
 *           several rows in shared memory, parallel coordinates by sums.
 * Changed:  the ids of the four steps.
 * Expect:   kernels of 0.15 ms in place of 0.5; the frame takes 0.9 ms, and four fifths of that are the copies of pageable memory.
 * Result:   1.6 ms (results/h200/lines/lines_1920x1080.json), with cuda/v2.3 of hough. The kernels take 81 us, less than
 *           expected; the upload of 6.2 MB of pageable memory 1.3 ms, which is nine tenths of the frame.
 */
/* Try: make bench-lines VERSIONS=cuda/v1.1,cuda/v1.2 */
#include "cuda/lines/shared/finder.h"

static const struct lines_ids ids = {"cuda/v2.0", "cuda/v2.0", "cuda/v2.7", "cuda/v2.0"};

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
