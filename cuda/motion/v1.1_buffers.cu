/*
 * Idea:     device memory is allocated and the background processed once, when the video starts.
 * Changed:  start() does what receive() did for every frame: open the steps, allocate, make the background. A frame is
 *           uploaded and its label image downloaded, 7 bytes a pixel, as in the document.
 * Expect:   frames per second at least double: allocate and free, over half of v1.0's frame, are gone, and so are one
 *           upload, one grayscale and one blur of two. Of the rest, morphology is the largest step, as in the document.
 * Result:   right in the sum, 1.9 times (results/h200/motion/motion_596x336.json), not in its parts: allocate and free
 *           were a fifth, the second upload a seventh; of the rest, upload and boxes are each larger than morphology.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.0,cuda/v1.1 */
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
    struct image submitted; /* not yet received; the pixels are the caller's */
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
    TRY(step_run(&state->steps[MOTION_OPEN], &state->closed, &state->opened, 0));
    TRY(step_run(&state->steps[MOTION_LABELLING], &state->opened, &state->labels, 0));
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

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    state->params = *params;
    if (!state->frame.data)
        TRY(allocate(state, first));
    TRY(make_background(state, first));
    if (motion_has_running_mean(params)) {
        if (!state->mean.data) {
            struct image shape = state->background;
            shape.type = PIXEL_U16;
            TRY(device_image_create(&state->mean, &shape));
        }
        TRY(mean_step_start(&state->mean, &state->background, 0));
    }
out:
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

    TRY(detect(state, result));
    if (motion_has_running_mean(&state->params)) {
        step_begin("mean", 0);
        TRY(mean_step_update(&state->mean, &state->blurred, state->params.rate, 0));
        TRY(mean_step_background(&state->mean, &state->background, 0));
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    release(state);
    device_image_free(&state->mean);
    *state = {};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true)
