/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/serial)
 * Expect:   (how many times as fast as cpu/serial it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/motion.h"

static const char rung[] = "cpu/omp"; /* the version of every step */

struct state {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    /* Task 1: the pictures between two steps, what lasts from one frame to the next, and what each frame in flight
     * needs for itself. */
    struct image frame; /* submitted, not yet received; the pixels are the caller's */
};

/* Once for each video: opens the steps and allocates if that was not done yet; makes the background. */
static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    (void)state, (void)first, (void)params, (void)rung;
    return status_set(STATUS_FAILED, "compose.c is not written yet");
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->frame = *frame;
    return STATUS_OK;
}

/* The boxes of the frame that was submitted. */
static enum status receive(struct state *state, struct image *result)
{
    (void)state, (void)result;
    return status_set(STATUS_FAILED, "compose.c is not written yet");
}

static void teardown(struct state *state)
{
    motion_steps_close(state->steps);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1) /* Task 1: 2, once a frame is in each stage */
