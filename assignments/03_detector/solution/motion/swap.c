/*
 * Idea:     two stages: a thread of our own makes boxes' labels of one frame's mask while the caller's thread makes the
 *           mask of the next.
 * Changed:  since cpu/serial: the two stages of compose, and all steps cpu/simd's: morphology first, then the blur,
 *           which is all that is left, then the rest.
 * Expect:   hundreds of times compose: both stages are made of steps that became so. They still divide a frame in
 *           halves, so two stages are twice as fast as one.
 */
#include <pthread.h>
#include <stdio.h>

#include "common/algo/motion.h"

enum { DEPTH = 2 }; /* frames in flight: one in each stage */

static const char rung[] = "cpu/simd";

/* What a frame in flight has to itself: the picture that goes from stage to stage, and what the second makes of it. */
struct slot {
    struct image closed, labels;
    enum status status; /* of the second stage */
    char message[256];
};

struct state {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    struct image gray, blurred, background, mean, difference, mask; /* of the first stage */
    struct image opened;                                            /* of the second */
    struct slot slots[DEPTH];
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned submitted, labelled, received; /* frames; behind the lock */
    bool ending;
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
    TRY(image_create_like(&state->mask, &state->gray));
    TRY(image_create_like(&state->opened, &state->gray));
    for (int i = 0; i < DEPTH; i++) {
        TRY(image_create_like(&state->slots[i].closed, &state->gray));
        TRY(make(&state->slots[i].labels, &state->steps[MOTION_LABELLING], &state->opened));
    }
out:
    return status;
}

/* The second stage of a frame. Its background is not needed here, so frames cannot get in each other's way. */
static enum status label(struct state *state, struct slot *slot)
{
    enum status status = STATUS_OK;
    const bool opens = motion_has_opening(&state->params);

    if (opens)
        TRY(step_run(&state->steps[MOTION_OPEN], &slot->closed, &state->opened, NULL));
    TRY(step_run(&state->steps[MOTION_LABELLING], opens ? &state->opened : &slot->closed, &slot->labels, NULL));
out:
    return status;
}

static void *second_stage(void *argument)
{
    struct state *state = argument;

    pthread_mutex_lock(&state->lock);
    for (;;) {
        while (state->labelled == state->submitted && !state->ending)
            pthread_cond_wait(&state->changed, &state->lock);
        if (state->ending)
            break;
        struct slot *slot = &state->slots[state->labelled % DEPTH];
        pthread_mutex_unlock(&state->lock);
        slot->status = label(state, slot);
        if (slot->status != STATUS_OK) /* a message belongs to the thread that set it */
            snprintf(slot->message, sizeof slot->message, "%s", status_message());
        pthread_mutex_lock(&state->lock);
        state->labelled++;
        pthread_cond_broadcast(&state->changed);
    }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static enum status open_all(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    state->params = *params;
    TRY(motion_steps_open(state->steps, params, rung, rung));
    TRY(allocate(state, first));
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->changed, NULL);
    if (pthread_create(&state->thread, NULL, second_stage, state) != 0)
        status = status_set(STATUS_FAILED, "no thread for the second stage");
    state->has_thread = status == STATUS_OK;
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->has_thread)
        TRY(open_all(state, first, params));
    TRY(step_run(&state->steps[MOTION_GRAYSCALE], first, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->background, NULL));
    motion_mean_start(&state->mean, &state->background);
out:
    return status;
}

/* The first stage. The mean is its alone: it follows from the frames in their order. */
static enum status submit(struct state *state, const struct image *frame)
{
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[MOTION_GRAYSCALE], frame, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->blurred, NULL));
    const struct image both[2] = {state->blurred, state->background};
    TRY(step_run(&state->steps[MOTION_ABSDIFF], both, &state->difference, NULL));
    TRY(step_run(&state->steps[MOTION_THRESHOLD], &state->difference, &state->mask, NULL));
    struct slot *slot = &state->slots[state->submitted % DEPTH];
    TRY(step_run(&state->steps[MOTION_CLOSE], &state->mask, &slot->closed, NULL));
    if (motion_has_running_mean(&state->params))
        motion_mean_update(&state->mean, &state->blurred, &state->background, state->params.rate, 0,
                           state->mean.height);
    pthread_mutex_lock(&state->lock);
    state->submitted++;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    struct slot *slot = &state->slots[state->received++ % DEPTH];
    enum status status = STATUS_OK;

    pthread_mutex_lock(&state->lock);
    while (state->labelled < state->received)
        pthread_cond_wait(&state->changed, &state->lock);
    pthread_mutex_unlock(&state->lock);
    if (slot->status != STATUS_OK)
        return status_set(slot->status, "%s", slot->message);
    TRY(step_run(&state->steps[MOTION_BOXES], &slot->labels, result, NULL));
out:
    return status;
}

static void teardown(struct state *state)
{
    struct image *images[] = {&state->gray,       &state->blurred, &state->background, &state->mean,
                              &state->difference, &state->mask,    &state->opened};

    if (state->has_thread) {
        pthread_mutex_lock(&state->lock);
        state->ending = true;
        pthread_cond_broadcast(&state->changed);
        pthread_mutex_unlock(&state->lock);
        pthread_join(state->thread, NULL);
        pthread_cond_destroy(&state->changed);
        pthread_mutex_destroy(&state->lock);
    }
    motion_steps_close(state->steps);
    for (int i = 0; i < DEPTH; i++) {
        image_free(&state->slots[i].closed);
        image_free(&state->slots[i].labels);
    }
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = DEPTH)
