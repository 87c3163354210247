/*
 * Problem:  From the threshold on a pixel is one bit, but steps of cpu/simd read and write a byte.
 * Idea:     Bit mask, 64 pixels per word: compare and pack in one pass, then dilate by shift and OR
 *           (shared/bits.c). Components are lists of runs of set bits (shared/components.c). So no
 *           step after the blur writes an image.
 * Expect:   2.1 times as fast as cpu/simd.
 * Result:   2.5 times as fast as cpu/simd with 16 threads by medians; the ranges overlap
 *           (results/h100/motion/motion_1920x1080.json).
 * Run:      make diff-motion A=cpu/simd B=cpu/bit_masks
 */
#include "common/algo/motion.h"
#include "common/algo/threshold.h"
#include "cpu/motion/shared/bits.h"
#include "cpu/motion/shared/components.h"

static const char rung[] = "cpu/bit_masks", step_rung[] = "cpu/simd";

struct state {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    struct image gray, blurred, background, mean, difference, zero;
    struct motion_bits mask, between;
    struct motion_components components;
    struct image frame; /* submitted, not yet received; the pixels are the caller's */
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

static enum status allocate(struct state *state, const struct image *first)
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

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
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

static enum status submit(struct state *state, const struct image *frame)
{
    state->frame = *frame;
    return STATUS_OK;
}

/* The mask of what moves, closed and perhaps opened. */
static enum status find_moving(struct state *state)
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

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[MOTION_GRAYSCALE], &state->frame, &state->gray, NULL));
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

static void teardown(struct state *state)
{
    struct image *images[] = {&state->gray, &state->blurred,    &state->background,
                              &state->mean, &state->difference, &state->zero};

    motion_steps_close(state->steps);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    motion_bits_free(&state->mask);
    motion_bits_free(&state->between);
    motion_components_free(&state->components);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1)
