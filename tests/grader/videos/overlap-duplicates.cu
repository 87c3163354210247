/* expect: right 12..12 | copies on streams 0..0 | download to page-locked memory 0..0 | says waited bytes */
/*
 * Idea:     each frame and its labels are copied while the host waits, and once more on a stream.
 * Expect:   no point for copies
 */
#include "common/algo/motion.h"
#include "common/cuda/device.h"
#include "common/cuda/mean_step.h"

static const char rung[] = "cuda/v1.3", boxes_rung[] = "cpu/simd";

enum { DEPTH = 3 };

/* What one frame in flight has to itself. */
struct slot {
    cudaStream_t stream;
    struct image frame, gray, blurred, difference, mask, closed, opened, labels; /* on the device */
    struct image host_labels, show_labels, show_frame; /* pageable; page-locked; on the device */
    struct step steps[MOTION_STEPS];
};

struct state {
    struct motion_params params;
    struct slot slots[DEPTH];
    struct image background, mean; /* on the device */
    cudaEvent_t mean_updated;
    unsigned submitted, received; /* frames since start() */
};

static enum status allocate_slot(struct slot *slot, const struct motion_params *params, const struct image *first)
{
    enum status status = STATUS_OK;
    struct image gray, labels;

    TRY(motion_steps_open(slot->steps, params, rung, boxes_rung));
    TRY(step_shape(&slot->steps[MOTION_GRAYSCALE], first, &gray));
    TRY(step_shape(&slot->steps[MOTION_LABELLING], &gray, &labels));
    TRY(device_image_create(&slot->frame, first));
    TRY(device_image_create(&slot->gray, &gray));
    TRY(device_image_create(&slot->blurred, &gray));
    TRY(device_image_create(&slot->difference, &gray));
    TRY(device_image_create(&slot->mask, &gray));
    TRY(device_image_create(&slot->closed, &gray));
    TRY(device_image_create(&slot->opened, &gray));
    TRY(device_image_create(&slot->labels, &labels));
    slot->host_labels = labels;
    slot->host_labels.stride = image_minimal_stride(&labels);
    slot->show_labels = slot->host_labels;
    TRY(image_create_like(&slot->host_labels, &labels));
    TRY(device_image_create(&slot->show_frame, first));
    CUDA_TRY(cudaMallocHost(&slot->show_labels.data, slot->show_labels.stride * (size_t)labels.height));
    CUDA_TRY(cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking));
out:
    return status;
}

static void free_slot(struct slot *slot)
{
    struct image *images[] = {&slot->frame, &slot->gray,   &slot->blurred, &slot->difference,
                              &slot->mask,  &slot->closed, &slot->opened,  &slot->labels};

    if (slot->stream)
        cudaStreamDestroy(slot->stream);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        device_image_free(images[i]);
    image_free(&slot->host_labels);
    device_image_free(&slot->show_frame);
    if (slot->show_labels.data)
        cudaFreeHost(slot->show_labels.data);
    motion_steps_close(slot->steps);
}

static enum status copy(struct image *to, const struct image *from, cudaMemcpyKind kind, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, from->data, from->stride, image_row_bytes(from),
                               (size_t)from->height, kind, stream));
out:
    return status;
}

/* Everything up to the blurred picture, in the slot's stream. */
static enum status blur_frame(struct slot *slot, const struct image *frame, struct image *blurred)
{
    enum status status = STATUS_OK;

    step_begin("upload", slot->stream);
    TRY(device_upload(&slot->frame, frame));
    TRY(copy(&slot->show_frame, frame, cudaMemcpyHostToDevice, slot->stream));
    TRY(step_run(&slot->steps[MOTION_GRAYSCALE], &slot->frame, &slot->gray, slot->stream));
    TRY(step_run(&slot->steps[MOTION_BLUR], &slot->gray, blurred, slot->stream));
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    struct slot *slot = &state->slots[0];
    enum status status = STATUS_OK;

    if (!state->background.data) {
        state->params = *params;
        for (int i = 0; i < DEPTH; i++)
            TRY(allocate_slot(&state->slots[i], params, first));
        TRY(device_image_create(&state->background, &slot->gray));
        CUDA_TRY(cudaEventCreateWithFlags(&state->mean_updated, cudaEventDisableTiming));
        if (motion_has_running_mean(params)) {
            struct image shape = slot->gray;
            shape.type = PIXEL_U16;
            TRY(device_image_create(&state->mean, &shape));
        }
    }
    state->submitted = state->received = 0;
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(blur_frame(slot, first, &state->background));
    if (state->mean.data)
        TRY(mean_step_start(&state->mean, &state->background, slot->stream));
    CUDA_TRY(cudaStreamSynchronize(slot->stream));
    CUDA_TRY(cudaEventRecord(state->mean_updated, slot->stream));
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    struct slot *slot = &state->slots[state->submitted++ % DEPTH];
    enum status status = STATUS_OK;

    TRY(blur_frame(slot, frame, &slot->blurred));
    /* The background is that of the frames before: theirs must have left it. */
    if (state->mean.data)
        CUDA_TRY(cudaStreamWaitEvent(slot->stream, state->mean_updated, 0));
    {
        const struct image both[2] = {slot->blurred, state->background};
        TRY(step_run(&slot->steps[MOTION_ABSDIFF], both, &slot->difference, slot->stream));
    }
    if (state->mean.data) {
        step_begin("mean", slot->stream);
        TRY(mean_step_update(&state->mean, &slot->blurred, state->params.rate, slot->stream));
        TRY(mean_step_background(&state->mean, &state->background, slot->stream));
        CUDA_TRY(cudaEventRecord(state->mean_updated, slot->stream));
    }
    TRY(step_run(&slot->steps[MOTION_THRESHOLD], &slot->difference, &slot->mask, slot->stream));
    TRY(step_run(&slot->steps[MOTION_CLOSE], &slot->mask, &slot->closed, slot->stream));
    if (motion_has_opening(&state->params))
        TRY(step_run(&slot->steps[MOTION_OPEN], &slot->closed, &slot->opened, slot->stream));
    TRY(step_run(&slot->steps[MOTION_LABELLING], motion_has_opening(&state->params) ? &slot->opened : &slot->closed,
                 &slot->labels, slot->stream));
    step_begin("download", slot->stream);
    TRY(copy(&slot->show_labels, &slot->labels, cudaMemcpyDeviceToHost, slot->stream));
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    struct slot *slot = &state->slots[state->received++ % DEPTH];
    enum status status = STATUS_OK;

    step_begin("wait", slot->stream);
    CUDA_TRY(cudaStreamSynchronize(slot->stream));
    TRY(device_download(&slot->host_labels, &slot->labels));
    TRY(step_run(&slot->steps[MOTION_BOXES], &slot->host_labels, result, slot->stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaDeviceSynchronize();
    for (int i = 0; i < DEPTH; i++)
        free_slot(&state->slots[i]);
    if (state->mean_updated)
        cudaEventDestroy(state->mean_updated);
    device_image_free(&state->background);
    device_image_free(&state->mean);
    *state = {};
}

static void *allocate_frames(size_t bytes)
{
    void *memory = NULL;

    return cudaMallocHost(&memory, bytes) == cudaSuccess ? memory : NULL;
}

static void release_frames(void *memory)
{
    cudaFreeHost(memory);
}

RUNGS_PIPELINE_VERSION(motion, .depth = DEPTH, .on_device = true, .allocate = allocate_frames,
                       .release = release_frames)
