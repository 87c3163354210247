/*
 * Idea:     Find moving objects in eight steps: gray, blur, difference from the background,
 *           threshold, close, open, components, boxes. Each is cpu/serial of its own ladder and
 *           writes an image.
 * Expect:   2 frames per second at 1920x1080: 225 multiplications per pixel (blur) take half of the
 *           time, 4 * 169 comparisons per pixel (close and open with a disk) the other half.
 * Result:   0.24 frames per second (results/h100/motion/motion_1920x1080.json): a comparison takes
 *           1.2 times as long as a multiplication, so close and open take 78 % of a frame's steps.
 * Run:      make bench-motion VERSIONS=cpu
 */
#include "common/algo/motion.h"

static const char rung[] = "cpu/serial";

struct state {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    struct image gray, blurred, background, mean, difference, mask, closed, opened, labels;
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
    TRY(image_create_like(&state->mask, &state->gray));
    TRY(image_create_like(&state->closed, &state->gray));
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
        TRY(motion_steps_open(state->steps, params, rung, rung));
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

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(step_run(&state->steps[MOTION_GRAYSCALE], &state->frame, &state->gray, NULL));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->blurred, NULL));
    const struct image both[2] = {state->blurred, state->background};
    TRY(step_run(&state->steps[MOTION_ABSDIFF], both, &state->difference, NULL));
    TRY(step_run(&state->steps[MOTION_THRESHOLD], &state->difference, &state->mask, NULL));
    TRY(step_run(&state->steps[MOTION_CLOSE], &state->mask, &state->closed, NULL));
    if (motion_has_opening(&state->params))
        TRY(step_run(&state->steps[MOTION_OPEN], &state->closed, &state->opened, NULL));
    const struct image *cleaned = motion_has_opening(&state->params) ? &state->opened : &state->closed;
    TRY(step_run(&state->steps[MOTION_LABELLING], cleaned, &state->labels, NULL));
    TRY(step_run(&state->steps[MOTION_BOXES], &state->labels, result, NULL));
    if (motion_has_running_mean(&state->params)) {
        step_begin("mean", NULL);
        motion_mean_update(&state->mean, &state->blurred, &state->background, state->params.rate, 0,
                           state->mean.height);
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    struct image *images[] = {&state->gray,       &state->blurred, &state->background, &state->mean,  &state->labels,
                              &state->difference, &state->mask,    &state->closed,     &state->opened};

    motion_steps_close(state->steps);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    *state = (struct state){0};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1)
