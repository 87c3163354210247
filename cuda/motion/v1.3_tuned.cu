/*
 * Idea:     the shape of the blocks can be set for all steps at once, so that a search can find the best.
 * Changed:  the steps are the cuda/v1.3 versions of their ladders; block_width and block_height are tunables, handed on
 *           to every step that has them.
 * Expect:   little, as in the document (14 % in all, for 16x16): on a GPU with 132 multiprocessors a 596x336 frame is 84
 *           blocks of 32x32 pixels, too few; smaller blocks fill it, and that shows more than their shape.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.2,cuda/v1.3 */
#include "common/algo/motion.h"
#include "common/cuda/device.h"
#include "common/cuda/mean_step.h"

static const char rung[] = "cuda/v1.3", boxes_rung[] = "cpu/simd";

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 0}, block_heights[] = {4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

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
    for (int step = 0; step < MOTION_STEPS; step++) {
        step_tune(&state->steps[step], "block_width", block_width);
        step_tune(&state->steps[step], "block_height", block_height);
    }
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

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true, .tunables = tunables, .illegal = illegal)
