/* expect: right 12..12 | frames in flight 0..0 | speed 0..0 | says only one stream has steps */
/*
 * Idea:     says that three frames are in flight, and computes each when its result is asked for.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/motion.h"
#include "common/cuda/device.h"
#include "common/cuda/mean_step.h"

static const char rung[] = "cuda/v1.1", boxes_rung[] = "cpu/simd";

enum { DEPTH = 3 }; /* frames in flight */

/* What one frame in flight has to itself. */
struct slot {
    cudaStream_t stream;
    struct step steps[MOTION_STEPS];
    struct image frame, gray, blurred, difference, mask, closed, opened, labels, host_labels;
};

struct state {
    struct slot slots[DEPTH];
    unsigned submitted, received; /* frames since start() */
    struct motion_params params;
    struct image background, mean, kept[DEPTH];
    cudaEvent_t updated;
};

/* A copy that returns at once, if the host's image is in page-locked memory. */
static inline enum status copy(struct image *to, const struct image *from, cudaMemcpyKind kind, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, from->data, from->stride, image_row_bytes(from),
                               (size_t)from->height, kind, stream));
out:
    return status;
}

static enum status make(struct slot *slot, const struct motion_params *params, const struct image *first)
{
    enum status status = STATUS_OK;
    struct image gray, labels;
    void *memory = NULL;

    TRY(motion_steps_open(slot->steps, params, rung, boxes_rung));
    CUDA_TRY(cudaStreamCreate(&slot->stream));
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
    slot->host_labels.stride = (size_t)labels.width * 4;
    CUDA_TRY(cudaMallocHost(&memory, slot->host_labels.stride * (size_t)labels.height));
    slot->host_labels.data = memory;
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;
    struct slot *slot = &state->slots[0];

    if (!state->background.data) {
        state->params = *params;
        for (int i = 0; i < DEPTH; i++)
            TRY(make(&state->slots[i], params, first));
        TRY(device_image_create(&state->background, &slot->gray));
        struct image shape = slot->gray;
        shape.type = PIXEL_U16;
        TRY(device_image_create(&state->mean, &shape));
        CUDA_TRY(cudaEventCreate(&state->updated));
    }
    state->submitted = state->received = 0;
    TRY(copy(&slot->frame, first, cudaMemcpyHostToDevice, slot->stream));
    TRY(step_run(&slot->steps[MOTION_GRAYSCALE], &slot->frame, &slot->gray, slot->stream));
    TRY(step_run(&slot->steps[MOTION_BLUR], &slot->gray, &state->background, slot->stream));
    if (motion_has_running_mean(params))
        TRY(mean_step_start(&state->mean, &state->background, slot->stream));
    CUDA_TRY(cudaEventRecord(state->updated, slot->stream));
out:
    return status;
}

static enum status enqueue(struct state *state, struct slot *slot, const struct image *frame)
{
    cudaStream_t stream = slot->stream;
    enum status status = STATUS_OK;
    const bool opens = motion_has_opening(&state->params);

    TRY(copy(&slot->frame, frame, cudaMemcpyHostToDevice, stream));
    TRY(step_run(&slot->steps[MOTION_GRAYSCALE], &slot->frame, &slot->gray, stream));
    TRY(step_run(&slot->steps[MOTION_BLUR], &slot->gray, &slot->blurred, stream));
    CUDA_TRY(cudaStreamWaitEvent(stream, state->updated, 0));
    if (motion_has_running_mean(&state->params))
        TRY(mean_step_background(&state->mean, &state->background, stream));
    {
        const struct image both[2] = {slot->blurred, state->background};
        TRY(step_run(&slot->steps[MOTION_ABSDIFF], both, &slot->difference, stream));
    }
    if (motion_has_running_mean(&state->params)) {
        TRY(mean_step_update(&state->mean, &slot->blurred, state->params.rate, stream));
        CUDA_TRY(cudaEventRecord(state->updated, stream));
    }
    TRY(step_run(&slot->steps[MOTION_THRESHOLD], &slot->difference, &slot->mask, stream));
    TRY(step_run(&slot->steps[MOTION_CLOSE], &slot->mask, &slot->closed, stream));
    if (opens)
        TRY(step_run(&slot->steps[MOTION_OPEN], &slot->closed, &slot->opened, stream));
    TRY(step_run(&slot->steps[MOTION_LABELLING], opens ? &slot->opened : &slot->closed, &slot->labels, stream));
    TRY(copy(&slot->host_labels, &slot->labels, cudaMemcpyDeviceToHost, stream));
out:
    return status;
}

/* Keeps the frame. */
static enum status submit(struct state *state, const struct image *frame)
{
    state->kept[state->submitted++ % DEPTH] = *frame;
    return STATUS_OK;
}

/* Does all that there is to do for the oldest frame. */
static enum status receive(struct state *state, struct image *result)
{
    const unsigned n = state->received++ % DEPTH;
    struct slot *slot = &state->slots[n];
    enum status status = STATUS_OK;

    TRY(enqueue(state, slot, &state->kept[n]));
    CUDA_TRY(cudaStreamSynchronize(slot->stream));
    TRY(step_run(&slot->steps[MOTION_BOXES], &slot->host_labels, result, 0));
out:
    return status;
}

static void teardown(struct state *state)
{
    for (int i = 0; i < DEPTH; i++) {
        struct slot *slot = &state->slots[i];
        struct image *images[] = {&slot->frame, &slot->gray,   &slot->blurred, &slot->difference,
                                  &slot->mask,  &slot->closed, &slot->opened,  &slot->labels};
        motion_steps_close(slot->steps);
        for (size_t k = 0; k < sizeof images / sizeof *images; k++)
            device_image_free(images[k]);
        cudaFreeHost(slot->host_labels.data);
        if (slot->stream)
            cudaStreamDestroy(slot->stream);
    }
    device_image_free(&state->background);
    device_image_free(&state->mean);
    if (state->updated)
        cudaEventDestroy(state->updated);
    *state = {};
}

/* Memory for the frames that submit() will get. */
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
