/*
 * Problem:  In cpu/bit_masks all threads wait for each other 8 times per frame; one thread alone
 *           lists the boxes.
 * Idea:     Load balancing by frames: each thread detects motion in whole frames, in its own
 *           buffers, so it waits for no other thread within a frame. Up to 32 frames are under way.
 * Expect:   3 times as fast as cpu/bit_masks with 16 threads at 596x336.
 * Result:   2.7 times as fast as cpu/bit_masks with 16 threads at 596x336
 *           (results/h100/motion/motion_596x336.json).
 * Run:      make diff-motion A=cpu/bit_masks B=cpu/per_frame
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/algo/motion.h"
#include "common/algo/threshold.h"
#include "cpu/motion/shared/bits.h"
#include "cpu/motion/shared/components.h"

enum { DEPTH = 32 };

static const char rung[] = "cpu/per_frame", step_rung[] = "cpu/simd";

struct detector {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    struct image gray, blurred, background, mean, difference, zero;
    struct motion_bits mask, between;
    struct motion_components components;
};

/* A frame in flight. */
struct slot {
    struct image frame, table; /* the frame's pixels are the caller's */
    bool done;
    enum status status;
    char message[256];
};

struct state {
    struct detector *detectors; /* one for each thread */
    int threads;                /* 1 for a running mean: it needs each frame before the next */
    struct slot slots[DEPTH];
    unsigned submitted, received; /* frames since start() */
};

/* The picture that a step makes of `in`, with memory of its own. */
static enum status make(struct image *out, const struct step *step, const struct image *in)
{
    struct image shape;
    enum status status = STATUS_OK;

    TRY(step_shape(step, in, &shape));
    TRY(image_create_like(out, &shape));
out:
    return status;
}

static enum status allocate(struct detector *state, const struct image *first)
{
    enum status status = STATUS_OK;

    TRY(make(&state->gray, &state->steps[MOTION_GRAYSCALE], first));
    TRY(image_create_like(&state->blurred, &state->gray));
    TRY(image_create_like(&state->background, &state->gray));
    TRY(image_create(&state->mean, first->width, first->height, 1, PIXEL_U16));
    TRY(image_create_like(&state->difference, &state->gray));
    TRY(image_create_like(&state->zero, &state->gray));
    image_fill(&state->zero, 0);
    TRY(motion_bits_create(&state->mask, first->width, first->height));
    TRY(motion_bits_create(&state->between, first->width, first->height));
out:
    return status;
}

static enum status start_detector(struct detector *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->gray.data) {
        state->params = *params;
        for (enum motion_step step = MOTION_GRAYSCALE; step < MOTION_STEPS; step++) {
            if (step >= MOTION_ABSDIFF)
                TRY(motion_refuse_swap(params, step, rung));
            TRY(motion_step_open(&state->steps[step], step, params, rung, step_rung));
        }
        TRY(allocate(state, first));
    }
    TRY(step_run(&state->steps[MOTION_GRAYSCALE], first, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->background, NULL));
    motion_mean_start(&state->mean, &state->background);
out:
    return status;
}

/* The mask of what moves, closed and perhaps opened. */
static enum status find_moving(struct detector *state)
{
    const struct image both[2] = {state->blurred, state->background}, *left = &both[0], *right = &both[1];
    struct threshold_params threshold = {.value = state->params.value};
    int value = state->params.value;
    enum status status = STATUS_OK;

    step_begin("threshold", NULL);
    if (value == MOTION_VALUE_OTSU) { /* needs all of the difference before the first bit */
        TRY(step_run(&state->steps[MOTION_ABSDIFF], both, &state->difference, NULL));
        TRY(threshold_value(&state->difference, &threshold, step_rung, &value));
        left = &state->difference;
        right = &state->zero;
    }
    motion_bits_find(left, right, value, &state->params, &state->mask, &state->between);
out:
    return status;
}

static enum status detect(struct detector *state, const struct image *frame, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[MOTION_GRAYSCALE], frame, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->blurred, NULL));
    TRY(find_moving(state));
    step_begin("boxes", NULL);
    TRY(motion_components_write(&state->components, &state->mask, &state->params, result));
    if (motion_has_running_mean(&state->params)) {
        step_begin("mean", NULL);
#pragma omp parallel for schedule(static)
        for (int y = 0; y < state->mean.height; y++)
            motion_mean_update(&state->mean, &state->blurred, &state->background, state->params.rate, y, y + 1);
    }
out:
    return status;
}

static void close_detector(struct detector *state)
{
    struct image *images[] = {&state->gray, &state->blurred,    &state->background,
                              &state->mean, &state->difference, &state->zero};

    motion_steps_close(state->steps);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    motion_bits_free(&state->mask);
    motion_bits_free(&state->between);
    motion_components_free(&state->components);
}

static enum status allocate_slots(struct state *state, const struct image *first, const struct motion_params *params)
{
    const struct image both[2] = {*first, *first};
    struct image shape = {0};
    enum status status = STATUS_OK;

    state->threads = motion_has_running_mean(params) ? 1 : omp_get_max_threads();
    state->detectors = calloc((size_t)state->threads, sizeof *state->detectors);
    if (!state->detectors)
        return status_set(STATUS_NO_MEMORY, "no memory for %d threads", state->threads);
    TRY(registry_find_algorithm("motion")->shape(both, params, &shape));
    for (int i = 0; i < DEPTH; i++)
        TRY(image_create_like(&state->slots[i].table, &shape));
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->detectors)
        TRY(allocate_slots(state, first, params));
    state->submitted = state->received = 0;
    for (int i = 0; i < state->threads; i++)
        TRY(start_detector(&state->detectors[i], first, params));
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    struct slot *slot = &state->slots[state->submitted++ % DEPTH];

    slot->frame = *frame;
    slot->done = false;
    return STATUS_OK;
}

/* Computes frames first to end - 1; a thread takes the next frame when it has finished one. */
static void compute(struct state *state, unsigned first, unsigned end, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        struct detector *own = &state->detectors[omp_get_thread_num()];
        if (state->threads > 1) /* else all threads work in one frame */
            omp_set_num_threads(1);
#pragma omp for schedule(dynamic)
        for (unsigned number = first; number < end; number++) {
            struct slot *slot = &state->slots[number % DEPTH];
            slot->status = detect(own, &slot->frame, &slot->table);
            if (slot->status != STATUS_OK) /* its message is this thread's own */
                snprintf(slot->message, sizeof slot->message, "%s", status_message());
            slot->done = true;
        }
    }
}

static enum status receive(struct state *state, struct image *result)
{
    struct slot *slot = &state->slots[state->received % DEPTH];
    const unsigned waiting = state->submitted - state->received, group = 2 * (unsigned)state->threads;

    if (!slot->done && step_is_recording()) /* the times of steps are those of the calling thread */
        compute(state, state->received, state->received + 1, 1);
    else if (!slot->done)
        compute(state, state->received, state->received + (waiting < group ? waiting : group), state->threads);
    state->received++;
    if (slot->status != STATUS_OK)
        return status_set(slot->status, "%s", slot->message);
    image_copy(result, &slot->table);
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    for (int i = 0; state->detectors && i < state->threads; i++)
        close_detector(&state->detectors[i]);
    free(state->detectors);
    for (int i = 0; i < DEPTH; i++)
        image_free(&state->slots[i].table);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = DEPTH)
