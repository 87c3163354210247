/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cuda/v1.0)
 * Expect:   (which phase should vanish, and how much of a frame that is; write it BEFORE you measure)
 */
#include "common/algo/motion.h"
#include "common/cuda/device.h"
#include "common/cuda/mean_step.h"

static const char rung[] = "cuda/v1.1", boxes_rung[] = "cpu/simd";

struct state {
    struct motion_params params;
    struct step steps[MOTION_STEPS];
    /* On the device. */
    struct image frame, gray, blurred, background, mean, difference, mask, closed, opened, labels, table;
    struct image host_labels;
    struct image first, submitted; /* the pixels are the caller's */
};

static bool has_device_boxes(const struct state *state)
{
    return version_is_cuda(state->steps[MOTION_BOXES].version);
}

static enum status allocate(struct state *state, const struct image *first)
{
    enum status status = STATUS_OK;
    struct image gray, labels, table;

    TRY(motion_steps_open(state->steps, &state->params, rung, boxes_rung));
    TRY(step_shape(&state->steps[MOTION_GRAYSCALE], first, &gray));
    TRY(step_shape(&state->steps[MOTION_LABELLING], &gray, &labels));
    TRY(step_shape(&state->steps[MOTION_BOXES], &labels, &table));
    step_begin("allocate", 0);
    TRY(device_image_create(&state->frame, first));
    TRY(device_image_create(&state->gray, &gray));
    TRY(device_image_create(&state->blurred, &gray));
    TRY(device_image_create(&state->background, &gray));
    TRY(device_image_create(&state->difference, &gray));
    TRY(device_image_create(&state->mask, &gray));
    TRY(device_image_create(&state->closed, &gray));
    TRY(device_image_create(&state->opened, &gray));
    TRY(device_image_create(&state->labels, &labels));
    if (has_device_boxes(state))
        TRY(device_image_create(&state->table, &table));
    else
        TRY(image_create_like(&state->host_labels, &labels));
out:
    return status;
}

static void release(struct state *state)
{
    struct image *images[] = {&state->frame, &state->gray,   &state->blurred, &state->background, &state->difference,
                              &state->mask,  &state->closed, &state->opened,  &state->labels,     &state->table};

    step_begin("free", 0);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        device_image_free(images[i]);
    image_free(&state->host_labels);
    motion_steps_close(state->steps);
}

static enum status make_background(struct state *state, const struct image *first)
{
    enum status status = STATUS_OK;

    step_begin("upload", 0);
    TRY(device_upload(&state->frame, first));
    TRY(step_run(&state->steps[MOTION_GRAYSCALE], &state->frame, &state->gray, 0));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->background, 0));
out:
    return status;
}

static enum status detect(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    step_begin("upload", 0);
    TRY(device_upload(&state->frame, &state->submitted));
    TRY(step_run(&state->steps[MOTION_GRAYSCALE], &state->frame, &state->gray, 0));
    TRY(step_run(&state->steps[MOTION_BLUR], &state->gray, &state->blurred, 0));
    {
        const struct image both[2] = {state->blurred, state->background};
        TRY(step_run(&state->steps[MOTION_ABSDIFF], both, &state->difference, 0));
    }
    TRY(step_run(&state->steps[MOTION_THRESHOLD], &state->difference, &state->mask, 0));
    TRY(step_run(&state->steps[MOTION_CLOSE], &state->mask, &state->closed, 0));
    if (motion_has_opening(&state->params))
        TRY(step_run(&state->steps[MOTION_OPEN], &state->closed, &state->opened, 0));
    TRY(step_run(&state->steps[MOTION_LABELLING], motion_has_opening(&state->params) ? &state->opened : &state->closed,
                 &state->labels, 0));
    if (has_device_boxes(state)) {
        TRY(step_run(&state->steps[MOTION_BOXES], &state->labels, &state->table, 0));
        step_begin("download", 0);
        TRY(device_download(result, &state->table));
    } else {
        step_begin("download", 0);
        TRY(device_download(&state->host_labels, &state->labels));
        TRY(step_run(&state->steps[MOTION_BOXES], &state->host_labels, result, 0));
    }
out:
    return status;
}

/* Task 3: what of this need not be done for every frame? */
static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    state->params = *params;
    state->first = *first;
    if (motion_has_running_mean(params)) {
        TRY(allocate(state, first));
        TRY(make_background(state, first));
        if (!state->mean.data) {
            struct image shape = state->background;
            shape.type = PIXEL_U16;
            TRY(device_image_create(&state->mean, &shape));
        }
        TRY(mean_step_start(&state->mean, &state->background, 0));
    }
out:
    release(state);
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->submitted = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(allocate(state, &state->submitted));
    if (motion_has_running_mean(&state->params))
        TRY(mean_step_background(&state->mean, &state->background, 0));
    else
        TRY(make_background(state, &state->first));
    TRY(detect(state, result));
    if (motion_has_running_mean(&state->params)) {
        step_begin("mean", 0);
        TRY(mean_step_update(&state->mean, &state->blurred, state->params.rate, 0));
    }
out:
    release(state);
    return status;
}

static void teardown(struct state *state)
{
    release(state);
    device_image_free(&state->mean);
    *state = {};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true)
