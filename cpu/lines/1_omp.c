/*
 * Problem:  cpu/serial uses one core; gray, edges and Hough transform are plain definitions.
 * Idea:     A thread computes a whole frame and waits for no other; receive() starts all submitted
 *           frames, up to 16. The steps are the fastest versions of their ladders.
 * Expect:   11 times as fast as cpu/serial with 2 threads: 1.7 (second core) * 5 (steps) * 1.3 (no
 *           barriers inside a frame). Latency grows.
 * Result:   15 times as fast as cpu/serial with 16 threads, 596 frames per second
 *           (results/h100/lines/lines_1920x1080_climb.json).
 * Run:      make diff-lines A=cpu/serial B=cpu/omp
 */
#include <stdio.h>

#include "common/algo/lines.h"

static const struct lines_ids ids = {"cpu/simd", "cpu/simd", "cpu/bins", "cpu/bit_planes"};

enum { DEPTH = 16 };

struct slot {
    struct step steps[LINES_STEPS];
    struct image gray, mask, table;
    struct image frame; /* submitted, not yet received; the pixels are the caller's */
    enum status status;
    char message[256];
};

struct state {
    struct slot slots[DEPTH];
    unsigned submitted, computed, received; /* frames since start() */
};

static enum status open_slot(struct slot *state, const struct image *first, const struct lines_params *params)
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

static enum status start(struct state *state, const struct image *first, const struct lines_params *params)
{
    enum status status = STATUS_OK;

    state->submitted = state->computed = state->received = 0;
    for (int i = 0; i < DEPTH && status == STATUS_OK; i++)
        status = open_slot(&state->slots[i], first, params);
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->slots[state->submitted++ % DEPTH].frame = *frame;
    return STATUS_OK;
}

static enum status find(struct slot *state)
{
    struct image masks[2] = {state->mask}, tables[2] = {state->table}; /* of each step the first of two outputs */
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[LINES_GRAYSCALE], &state->frame, &state->gray, NULL));
    TRY(step_run(&state->steps[LINES_EDGES], &state->gray, masks, NULL));
    TRY(step_run(&state->steps[LINES_DETECTOR], &state->mask, tables, NULL));
out:
    if (status != STATUS_OK)
        snprintf(state->message, sizeof state->message, "%s", status_message());
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    const unsigned first = state->computed, last = state->submitted;
    const bool waits = first == state->received;
    const bool several = last - first > 1 && !step_is_recording(); /* a thread records its own steps only */
    struct slot *slot = &state->slots[state->received++ % DEPTH];

#pragma omp parallel for schedule(dynamic, 1) if (several)
    for (unsigned i = first; i < (waits ? last : first); i++)
        state->slots[i % DEPTH].status = find(&state->slots[i % DEPTH]);
    state->computed = waits ? last : first;
    if (slot->status != STATUS_OK)
        return status_set(slot->status, "%s", slot->message);
    lines_write(&slot->table, result);
    return STATUS_OK;
}

static void close_slot(struct slot *state)
{
    lines_steps_close(state->steps);
    image_free(&state->gray);
    image_free(&state->mask);
    image_free(&state->table);
}

static void teardown(struct state *state)
{
    for (int i = 0; i < DEPTH; i++)
        close_slot(&state->slots[i]);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(lines, .depth = DEPTH)
