#include "cuda/motion/shared/detector.h"

#include "common/cuda/mean_step.h"

static bool has_device_boxes(const struct detector *detector)
{
    return version_is_cuda(detector->steps[MOTION_BOXES].version);
}

bool detector_is_open(const struct detector *detector)
{
    return detector->frame.data != NULL;
}

static enum status open_steps(struct detector *detector, const struct detector_rung *rung)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < MOTION_STEPS; i++) {
        const enum motion_step which = (enum motion_step)i;
        const bool has_neighbourhood = which == MOTION_BLUR || which == MOTION_CLOSE || which == MOTION_OPEN;
        const char *version = which == MOTION_BOXES ? rung->boxes : has_neighbourhood ? rung->id : rung->others;

        TRY(motion_step_open(&detector->steps[i], which, &detector->params, rung->id, version));
        for (const struct tunable *tunable = rung->tunables; tunable && tunable->name; tunable++)
            step_tune(&detector->steps[i], tunable->name, *tunable->value);
    }
out:
    return status;
}

/* The steps' own device memory, and what they upload into it. */
static enum status set_up_steps(struct detector *detector)
{
    const struct image both[2] = {detector->blurred, detector->background};
    const struct image *in[MOTION_STEPS] = {};
    enum status status = STATUS_OK;

    in[MOTION_GRAYSCALE] = &detector->frame;
    in[MOTION_BLUR] = &detector->gray;
    in[MOTION_ABSDIFF] = both;
    in[MOTION_THRESHOLD] = &detector->difference;
    in[MOTION_CLOSE] = &detector->mask;
    in[MOTION_OPEN] = motion_has_opening(&detector->params) ? &detector->closed : NULL;
    in[MOTION_LABELLING] = motion_has_opening(&detector->params) ? &detector->opened : &detector->closed;
    in[MOTION_BOXES] = &detector->labels;
    for (int step = 0; step < MOTION_STEPS; step++)
        if (in[step])
            TRY(step_setup(&detector->steps[step], in[step]));
out:
    return status;
}

enum status detector_open(struct detector *detector, const struct detector_rung *rung, const struct image *first,
                          const struct motion_params *params)
{
    enum status status = STATUS_OK;
    struct image gray, labels, table;

    detector->params = *params;
    TRY(open_steps(detector, rung));
    TRY(step_shape(&detector->steps[MOTION_GRAYSCALE], first, &gray));
    TRY(step_shape(&detector->steps[MOTION_LABELLING], &gray, &labels));
    TRY(step_shape(&detector->steps[MOTION_BOXES], &labels, &table));
    step_begin("allocate", 0);
    TRY(device_image_create(&detector->frame, first));
    TRY(device_image_create(&detector->gray, &gray));
    TRY(device_image_create(&detector->blurred, &gray));
    TRY(device_image_create(&detector->background, &gray));
    TRY(device_image_create(&detector->difference, &gray));
    TRY(device_image_create(&detector->mask, &gray));
    TRY(device_image_create(&detector->closed, &gray));
    if (motion_has_opening(&detector->params))
        TRY(device_image_create(&detector->opened, &gray));
    TRY(device_image_create(&detector->labels, &labels));
    if (has_device_boxes(detector))
        TRY(device_image_create(&detector->table, &table));
    else
        TRY(image_create_like(&detector->host_labels, &labels));
    TRY(set_up_steps(detector));
out:
    if (status != STATUS_OK)
        detector_close(detector);
    return status;
}

void detector_close(struct detector *detector)
{
    struct image *images[] = {&detector->frame,  &detector->gray,       &detector->blurred, &detector->background,
                              &detector->mask,   &detector->difference, &detector->closed,  &detector->opened,
                              &detector->labels, &detector->table};

    step_begin("free", 0);
    for (struct image *image : images)
        device_image_free(image);
    image_free(&detector->host_labels);
    motion_steps_close(detector->steps);
}

void detector_free(struct detector *detector)
{
    detector_close(detector);
    device_image_free(&detector->mean);
    *detector = {};
}

enum status detector_background(struct detector *detector, const struct image *first)
{
    enum status status = STATUS_OK;

    step_begin("upload", 0);
    TRY(device_upload(&detector->frame, first));
    TRY(step_run(&detector->steps[MOTION_GRAYSCALE], &detector->frame, &detector->gray, 0));
    TRY(step_run(&detector->steps[MOTION_BLUR], &detector->gray, &detector->background, 0));
    if (motion_has_running_mean(&detector->params)) {
        struct image shape = detector->background;

        shape.type = PIXEL_U16;
        if (!detector->mean.data)
            TRY(device_image_create(&detector->mean, &shape));
        TRY(mean_step_start(&detector->mean, &detector->background, 0));
    }
out:
    return status;
}

/* The table of the components of device image *mask. */
static enum status find_boxes(struct detector *detector, const struct image *mask, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(step_run(&detector->steps[MOTION_LABELLING], mask, &detector->labels, 0));
    if (has_device_boxes(detector)) {
        TRY(step_run(&detector->steps[MOTION_BOXES], &detector->labels, &detector->table, 0));
        step_begin("download", 0);
        TRY(device_download(result, &detector->table));
    } else {
        step_begin("download", 0);
        TRY(device_download(&detector->host_labels, &detector->labels));
        TRY(step_run(&detector->steps[MOTION_BOXES], &detector->host_labels, result, 0));
    }
out:
    return status;
}

enum status detector_detect(struct detector *detector, const struct image *frame, struct image *result)
{
    const bool has_mean = motion_has_running_mean(&detector->params);
    const struct image both[2] = {detector->blurred, detector->background};
    enum status status = STATUS_OK;

    if (has_mean) {
        step_begin("mean", 0);
        TRY(mean_step_background(&detector->mean, &detector->background, 0));
    }
    step_begin("upload", 0);
    TRY(device_upload(&detector->frame, frame));
    TRY(step_run(&detector->steps[MOTION_GRAYSCALE], &detector->frame, &detector->gray, 0));
    TRY(step_run(&detector->steps[MOTION_BLUR], &detector->gray, &detector->blurred, 0));
    TRY(step_run(&detector->steps[MOTION_ABSDIFF], both, &detector->difference, 0));
    TRY(step_run(&detector->steps[MOTION_THRESHOLD], &detector->difference, &detector->mask, 0));
    TRY(step_run(&detector->steps[MOTION_CLOSE], &detector->mask, &detector->closed, 0));
    if (motion_has_opening(&detector->params))
        TRY(step_run(&detector->steps[MOTION_OPEN], &detector->closed, &detector->opened, 0));
    TRY(find_boxes(detector, motion_has_opening(&detector->params) ? &detector->opened : &detector->closed, result));
    if (has_mean) {
        step_begin("mean", 0);
        TRY(mean_step_update(&detector->mean, &detector->blurred, detector->params.rate, 0));
    }
out:
    return status;
}
