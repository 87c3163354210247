#include "cuda/motion/shared/frame.h"

#include "common/cuda/mean_step.h"

enum status bit_frame_create(struct bit_frame *frame, const struct image *first, const struct motion_params *params,
                             const char *rung)
{
    static const enum motion_step fused[] = {MOTION_ABSDIFF, MOTION_THRESHOLD, MOTION_CLOSE, MOTION_LABELLING,
                                             MOTION_BOXES};
    const char *blur = device_needs_capability(80) ? "cuda/v2.0" : "cuda/v2.2"; /* the latter: tensor cores */
    enum status status = STATUS_OK;
    struct image gray;

    for (enum motion_step step : fused)
        TRY(motion_refuse_swap(params, step, rung));
    CUDA_TRY(cudaStreamCreateWithFlags(&frame->stream, cudaStreamNonBlocking));
    TRY(motion_step_open(&frame->grayscale, MOTION_GRAYSCALE, params, rung, "cuda/v1.3"));
    TRY(motion_step_open(&frame->blur, MOTION_BLUR, params, rung, blur));
    TRY(step_shape(&frame->grayscale, first, &gray));
    TRY(device_image_create(&frame->frame, first));
    TRY(device_image_create(&frame->gray, &gray));
    TRY(device_image_create(&frame->blurred, &gray));
    /* compute-sanitizer's initcheck looks at the sources of a graph's copies when the graph is launched, before its
     * kernels have written them; a blur with ksize 1 is such a copy. */
    TRY(device_clear(frame->gray.data, frame->gray.stride * (size_t)gray.height));
    TRY(frame->grayscale.version->setup(frame->grayscale.state, &frame->frame, frame->grayscale.params));
    TRY(frame->blur.version->setup(frame->blur.state, &frame->gray, frame->blur.params));
    if (params->value == MOTION_VALUE_OTSU) {
        TRY(device_image_create(&frame->difference, &gray));
        TRY(otsu_step_setup(&frame->otsu, "cuda/v2.0", &frame->difference));
    }
    TRY(bit_mask_create(&frame->mask, gray.width, gray.height));
    TRY(bit_mask_create(&frame->cleaned, gray.width, gray.height));
    TRY(bit_boxes_create(&frame->boxes, &frame->cleaned));
    CUDA_TRY(cudaHostAlloc((void **)&frame->table, sizeof(int32_t) * BOXES_COLUMNS * (params->max_boxes + 1),
                           cudaHostAllocDefault));
out:
    return status;
}

void bit_frame_free(struct bit_frame *frame)
{
    if (frame->stream)
        cudaStreamSynchronize(frame->stream);
    step_close(&frame->grayscale);
    step_close(&frame->blur);
    otsu_step_teardown(&frame->otsu);
    device_image_free(&frame->frame);
    device_image_free(&frame->gray);
    device_image_free(&frame->blurred);
    device_image_free(&frame->difference);
    bit_mask_free(&frame->mask);
    bit_mask_free(&frame->cleaned);
    bit_boxes_free(&frame->boxes);
    cudaFreeHost(frame->table);
    if (frame->stream)
        cudaStreamDestroy(frame->stream);
    *frame = {};
}

/* One copy of all bytes where the rows lie as on the device, which is faster than row by row; the padding comes
 * along. */
enum status bit_frame_upload(struct bit_frame *frame, const struct image *from)
{
    struct image *to = &frame->frame;
    enum status status = STATUS_OK;

    step_begin("upload", frame->stream);
    if (from->stride == to->stride)
        CUDA_TRY(cudaMemcpyAsync(to->data, from->data, to->stride * (size_t)to->height, cudaMemcpyHostToDevice,
                                 frame->stream));
    else
        CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, from->data, from->stride, image_row_bytes(to),
                                   (size_t)to->height, cudaMemcpyHostToDevice, frame->stream));
    phase_count(PHASE_UPLOAD, from->stride == to->stride ? to->stride * (size_t)to->height : image_pixel_bytes(to));
out:
    return status;
}

/* Not step_run(): that calls setup(), which may do what a stream that is captured cannot. */
static enum status launch(struct step *step, const struct image *in, struct image *out, cudaStream_t stream)
{
    step_begin(step->name, stream);
    return step->version->launch(step->state, in, out, step->params, stream);
}

static enum status launch_blur(struct bit_frame *frame, struct image *out)
{
    enum status status = STATUS_OK;

    TRY(launch(&frame->grayscale, &frame->frame, &frame->gray, frame->stream));
    TRY(launch(&frame->blur, &frame->gray, out, frame->stream));
out:
    return status;
}

enum status bit_frame_enqueue(struct bit_frame *frame, const struct bit_background *background,
                              const struct motion_params *params, int multiprocessors)
{
    enum status status = STATUS_OK;

    TRY(launch_blur(frame, &frame->blurred));
    step_begin("threshold", frame->stream);
    if (frame->difference.data) {
        TRY(bit_mask_difference(&frame->blurred, background, &frame->difference, frame->stream));
        TRY(otsu_step_launch(&frame->otsu, &frame->difference, frame->stream));
        TRY(bit_mask_threshold(&frame->difference, (const int *)frame->otsu.result.data, &frame->mask, frame->stream));
    } else {
        TRY(bit_mask_moving(&frame->blurred, background, params->value, &frame->mask, frame->stream));
    }
    step_begin("morphology", frame->stream);
    TRY(bit_morphology(&frame->mask, &frame->cleaned, motion_has_opening(params), params->shape, params->disk,
                       multiprocessors, frame->stream));
    step_begin("labelling", frame->stream);
    TRY(bit_boxes_join(&frame->boxes, &frame->cleaned, params->connectivity, frame->stream));
    step_begin("boxes", frame->stream);
    TRY(bit_boxes_write(&frame->boxes, &frame->cleaned, params->min_area, params->max_boxes, frame->table,
                        frame->stream));
out:
    return status;
}

enum status bit_background_create(struct bit_background *background, const struct bit_frame *frame,
                                  const struct motion_params *params)
{
    enum status status = STATUS_OK;

    TRY(device_image_create(&background->image, &frame->blurred));
    if (motion_has_running_mean(params)) {
        struct image mean = background->image;
        mean.type = PIXEL_U16;
        TRY(device_image_create(&background->mean, &mean));
        background->rate = params->rate;
    }
out:
    return status;
}

void bit_background_free(struct bit_background *background)
{
    device_image_free(&background->image);
    device_image_free(&background->mean);
    *background = {};
}

enum status bit_background_start(struct bit_background *background, struct bit_frame *frame, const struct image *first)
{
    enum status status = STATUS_OK;

    TRY(bit_frame_upload(frame, first));
    TRY(launch_blur(frame, &background->image));
    if (background->mean.data)
        TRY(mean_step_start(&background->mean, &background->image, frame->stream));
    CUDA_TRY(cudaStreamSynchronize(frame->stream));
out:
    return status;
}

void bit_frame_read(const struct bit_frame *frame, const struct motion_params *params, struct image *result)
{
    const int boxes = frame->table[0] < params->max_boxes ? frame->table[0] : params->max_boxes;

    for (int y = 0; y < result->height; y++) {
        const size_t bytes = sizeof(int32_t) * BOXES_COLUMNS;
        if (y <= boxes)
            memcpy(image_row(result, y), frame->table + BOXES_COLUMNS * y, bytes);
        else
            memset(image_row(result, y), 0, bytes);
    }
    phase_count(PHASE_DOWNLOAD, sizeof(int32_t) * BOXES_COLUMNS * (size_t)(boxes + 1));
}
