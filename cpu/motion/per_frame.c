/*
 * Idea:     a thread takes a whole frame, so that no thread waits for another within one.
 * Changed:  nothing in a frame: what was the state is what each thread has of its own, and start() and receive() are what a
 *           thread does with it. submit() puts the frame into a queue (shared/lanes.h), receive() waits for the oldest, and up
 *           to 32 are in flight. A running mean needs each frame before the next: it stays as it was, all threads in a frame.
 * Expect:   with 16 threads at 596x336 three times the frames: packed's threads meet four times in 0.1 ms, and one of them
 *           lists the boxes while 15 wait. With 2 threads little, until the machine is busy with something else: then packed
 *           waits for whichever thread the system has taken off its core, and a queue of frames does not.
 *           Each frame takes as long as one core needs for it: throughput is bought with delay.
 * Result:   4.3 times with 16 threads (results/h200/motion/motion_596x336.json; 2.4 at 1920x1080); 2.0 with two
 *           (results/cpu2/motion/motion_596x336.json; 1.2 at 1920x1080), and 7.7 when another program keeps one of them
 *           busy (results/cpu2/motion/motion_busy.txt). Two cores with AVX2, shared with other programs: 1.4 times at
 *           1920x1080 (results/cpu2_avx2/motion/motion_1920x1080.json).
 */
/* Try: make bench-motion VERSIONS=cpu/packed,cpu/per_frame; then with OMP_NUM_THREADS=1 */
#include "common/algo/motion.h"
#include "common/algo/threshold.h"
#include "cpu/motion/shared/bits.h"
#include "cpu/motion/shared/components.h"
#include "cpu/motion/shared/lanes.h"

static const char rung[] = "cpu/per_frame", step_rung[] = "cpu/simd";

struct detector {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    struct image gray, blurred, background, mean, difference, zero;
    struct motion_bits mask, cleaned;
    struct motion_components components;
};

struct state {
    struct lanes lanes;
    unsigned submitted, received;
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
    TRY(motion_bits_create(&state->cleaned, first->width, first->height));
    TRY(motion_components_create(&state->components, first->width));
out:
    return status;
}

static enum status start_lane(void *memory, const struct image *first, const struct motion_params *params)
{
    struct detector *state = memory;
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

static enum status detect(void *memory, const struct image *frame, struct image *result)
{
    struct detector *state = memory;
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[MOTION_GRAYSCALE], frame, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->blurred, NULL));
    TRY(find_moving(state));
    step_begin("boxes", NULL);
    TRY(motion_components_write(&state->components, &state->cleaned, &state->params, result));
    if (motion_has_running_mean(&state->params)) {
        step_begin("mean", NULL);
#pragma omp parallel for schedule(static)
        for (int y = 0; y < state->mean.height; y++)
            motion_mean_update(&state->mean, &state->blurred, &state->background, state->params.rate, y, y + 1);
    }
out:
    return status;
}

static void close_lane(void *memory)
{
    struct detector *state = memory;
    struct image *images[] = {&state->gray, &state->blurred,    &state->background,
                              &state->mean, &state->difference, &state->zero};

    motion_steps_close(state->steps);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    motion_bits_free(&state->mask);
    motion_bits_free(&state->cleaned);
    motion_components_free(&state->components);
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    static const struct lanes_work work = {sizeof(struct detector), start_lane, detect, close_lane};

    return lanes_start(&state->lanes, &work, first, params);
}

static enum status submit(struct state *state, const struct image *frame)
{
    const unsigned number = state->submitted++ % LANES_DEPTH;
    struct lanes_slot *slot = &state->lanes.slots[number];

    slot->frame = *frame;
    slot->done = false;
    slot->queued =
        state->lanes.workers > 0 && !step_is_recording(); /* steps are timed in the thread that asked for it */
    if (slot->queued)
        lanes_put(&state->lanes, number);
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    return lanes_take(&state->lanes, &state->lanes.slots[state->received++ % LANES_DEPTH], result);
}

static void teardown(struct state *state)
{
    lanes_close(&state->lanes);
}

RUNGS_PIPELINE_VERSION(motion, .depth = LANES_DEPTH)
