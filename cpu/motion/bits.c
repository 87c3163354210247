/*
 * Idea:     a mask is 1 bit a pixel, 64 pixels a word: comparing packs it, and dilating is shift and or.
 * Changed:  four steps became two: difference and threshold write bits, close and open are four dilations of bits (an erosion is
 *           the dilation of the complement), in bands of rows that overlap, so that no thread waits for another. Labels and boxes
 *           find a picture again, made of the bits.
 * Expect:   at 1920x1080 close and open need 0.1 ms on one core, by operations: 4 passes x 1080 rows x 4 registers x 100, and
 *           were half of the frame: 1.5 times simd. The difference and the mask are never written as pictures.
 * Result:   1.4 times simd on two cores with AVX2 (results/cpu2_avx2/motion/motion_1920x1080.json), nearly as predicted. Close and
 *           open take more than that, 0.5 ms on two cores with AVX-512 (packed, results/cpu2/motion/motion_1920x1080.json).
 */
/* Try: make bench-motion VERSIONS=cpu/simd,cpu/bits,cpu/packed */
#include "cpu/motion/shared/bits.h"
#include "common/algo/motion.h"
#include "common/algo/threshold.h"

static const char rung[] = "cpu/bits", step_rung[] = "cpu/simd";

struct state {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    struct image gray, blurred, background, mean, difference, zero, opened, labels;
    struct motion_bits mask, cleaned;
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
    TRY(motion_bits_create(&state->cleaned, first->width, first->height));
    TRY(image_create_like(&state->opened, &state->gray));
    TRY(make(&state->labels, &state->steps[MOTION_LABELLING], &state->opened));
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->gray.data) {
        state->params = *params;
        for (enum motion_step step = MOTION_GRAYSCALE; step < MOTION_STEPS; step++) {
            if (step >= MOTION_ABSDIFF && step < MOTION_LABELLING)
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
    if (value == MOTION_VALUE_OTSU) { /* needs the histogram of the whole difference before the first bit */
        TRY(step_run(&state->steps[MOTION_ABSDIFF], both, &state->difference, NULL));
        TRY(threshold_value(&state->difference, &threshold, step_rung, &value));
        left = &state->difference;
        right = &state->zero;
    }
    TRY(motion_bits_find(left, right, value, &state->params, &state->mask, &state->cleaned));
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[MOTION_GRAYSCALE], &state->frame, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->blurred, NULL));
    TRY(find_moving(state));
    motion_bits_unpack(&state->cleaned, &state->opened);
    TRY(step_run(&state->steps[MOTION_LABELLING], &state->opened, &state->labels, NULL));
    TRY(step_run(&state->steps[MOTION_BOXES], &state->labels, result, NULL));
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
    struct image *images[] = {&state->gray,       &state->blurred, &state->background, &state->mean,
                              &state->difference, &state->zero,    &state->opened,     &state->labels};

    motion_steps_close(state->steps);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    motion_bits_free(&state->mask);
    motion_bits_free(&state->cleaned);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1)
