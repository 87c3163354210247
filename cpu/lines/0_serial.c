/*
 * Idea:     Find straight lines in three steps, one after the other: gray, thin edges, Hough
 *           transform (each edge pixel increments a counter for every line through it). Each is
 *           cpu/serial of its own ladder, with an image between each two.
 * Expect:   15 frames per second at 1920x1080: most of the time goes into edges and votes.
 * Run:      make bench-lines VERSIONS=cpu
 */
#include "common/algo/lines.h"

static const struct lines_ids ids = {"cpu/serial", "cpu/serial", "cpu/serial", "cpu/serial"};

struct state {
    struct step steps[LINES_STEPS];
    struct image gray, mask, table;
    struct image frame; /* submitted, not yet received; the pixels are the caller's */
};

static enum status start(struct state *state, const struct image *first, const struct lines_params *params)
{
    struct lines_shapes shapes;
    enum status status = STATUS_OK;

    if (state->table.data)
        return STATUS_OK;
    TRY(lines_steps_open(state->steps, params, &ids));
    TRY(lines_make_shapes(state->steps, first, &shapes));
    TRY(image_create_like(&state->gray, &shapes.gray));
    TRY(image_create_like(&state->mask, &shapes.mask));
    TRY(array_create(&state->table, shapes.table.width, shapes.table.height, 1, PIXEL_F32));
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->frame = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    struct image masks[2] = {state->mask}, tables[2] = {state->table}; /* of each step the first of two outputs */
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[LINES_GRAYSCALE], &state->frame, &state->gray, NULL));
    TRY(step_run(&state->steps[LINES_EDGES], &state->gray, masks, NULL));
    TRY(step_run(&state->steps[LINES_DETECTOR], &state->mask, tables, NULL));
    lines_write(&state->table, result);
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_steps_close(state->steps);
    image_free(&state->gray);
    image_free(&state->mask);
    image_free(&state->table);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(lines, .depth = 1)
