/*
 * Idea:     nothing but the frame's upload takes time of its own. Four frames are in flight, each with a stream, buffers
 *           and a graph of its kernels; after the blur a pixel is one bit, and no image of labels exists.
 * Changed:  difference, threshold and packing are one kernel, closing and opening another, labels and boxes three that go
 *           over runs of bits; boxes go straight to pinned host memory. Frames want to be in pinned memory, too.
 * Expect:   1920x1080: 115 us a frame, the 6.2 MB over PCIe at 55 GB/s; the 7 kernels move 19 MB, 6 us at the rate of
 *           grayscale v2.0, but are 35 us one after the other, during which the next frames are uploaded. 596x336: the upload is 11 us, but
 *           the host's three calls (copy, graph, wait) take some 15 us and decide.
 * Result:   as expected (results/h200/motion/motion_1920x1080.json), but for the kernels: one after the other, with the
 *           gaps between them, they are 69 us, hidden behind uploads as well.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.3,cuda/v2.0 */
#include "common/algo/motion.h"
#include "common/cuda/device.h"
#include "common/cuda/mean_step.h"
#include "common/cuda/otsu_step.h"
#include "cuda/motion/v2.0_fused/bit_mask.h"

static const char rung[] = "cuda/v2.0";

enum { DEPTH = 4 };

/* What one frame in flight has to itself. */
struct slot {
    cudaStream_t stream;
    cudaEvent_t done;
    cudaGraphExec_t graph; /* all but the upload: that has another address each time, and may start before the rest */
    struct step grayscale, blur;
    struct otsu_step otsu;
    struct image frame, gray, blurred; /* on the device */
    struct image difference;           /* for otsu only, else its data is NULL */
    struct bit_mask mask, cleaned;
    struct bit_boxes boxes;
    int32_t *table; /* pinned; rows that hold no box hold anything */
};

struct state {
    struct motion_params params;
    struct slot slots[DEPTH];
    struct bit_background background;
    int multiprocessors;
    unsigned submitted, received; /* frames since start() */
};

static bool has_mean(const struct state *state)
{
    return state->background.mean.data != NULL;
}

/* -------------------------------------------------------------------------------------------- what a frame takes */

/* One copy of all bytes where the rows lie as on the device, which is faster than row by row; the padding comes along.
 * From memory that is not pinned the driver copies by way of its own, and this returns when it has read all. */
static enum status upload(struct slot *slot, const struct image *frame)
{
    struct image *to = &slot->frame;
    enum status status = STATUS_OK;

    step_begin("upload", slot->stream);
    if (frame->stride == to->stride)
        CUDA_TRY(cudaMemcpyAsync(to->data, frame->data, to->stride * (size_t)to->height, cudaMemcpyHostToDevice,
                                 slot->stream));
    else
        CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, frame->data, frame->stride, image_row_bytes(to),
                                   (size_t)to->height, cudaMemcpyHostToDevice, slot->stream));
    phase_count(PHASE_UPLOAD, frame->stride == to->stride ? to->stride * (size_t)to->height : image_pixel_bytes(to));
out:
    return status;
}

/* Not step_run(): that calls setup(), which may do what a stream that is captured cannot. */
static enum status launch(struct step *step, const struct image *in, struct image *out, cudaStream_t stream)
{
    step_begin(step->name, stream);
    return step->version->launch(step->state, in, out, step->params, stream);
}

static enum status launch_blur(struct slot *slot, struct image *out)
{
    enum status status = STATUS_OK;

    TRY(launch(&slot->grayscale, &slot->frame, &slot->gray, slot->stream));
    TRY(launch(&slot->blur, &slot->gray, out, slot->stream));
out:
    return status;
}

/* Enqueues all that makes boxes of an uploaded frame. */
static enum status enqueue(struct state *state, struct slot *slot)
{
    const struct motion_params *params = &state->params;
    enum status status = STATUS_OK;

    TRY(launch_blur(slot, &slot->blurred));
    step_begin("threshold", slot->stream);
    if (slot->difference.data) {
        TRY(bit_mask_difference(&slot->blurred, &state->background, &slot->difference, slot->stream));
        TRY(otsu_step_launch(&slot->otsu, &slot->difference, slot->stream));
        TRY(bit_mask_threshold(&slot->difference, (const int *)slot->otsu.result.data, &slot->mask, slot->stream));
    } else {
        TRY(bit_mask_moving(&slot->blurred, &state->background, params->value, &slot->mask, slot->stream));
    }
    step_begin("morphology", slot->stream);
    TRY(bit_morphology(&slot->mask, &slot->cleaned, motion_has_opening(params), params->shape, params->disk,
                       state->multiprocessors, slot->stream));
    step_begin("labelling", slot->stream);
    TRY(bit_boxes_join(&slot->boxes, &slot->cleaned, params->connectivity, slot->stream));
    step_begin("boxes", slot->stream);
    TRY(bit_boxes_write(&slot->boxes, &slot->cleaned, params->min_area, params->max_boxes, slot->table, slot->stream));
out:
    return status;
}

/* ---------------------------------------------------------------------------------------------- buffers and graphs */

/* One call hands all kernels to the device. They are recorded as they would run. */
static enum status make_graph(struct state *state, struct slot *slot)
{
    cudaGraph_t graph = NULL;
    enum status status = STATUS_OK, ended;

    CUDA_TRY(cudaStreamBeginCapture(slot->stream, cudaStreamCaptureModeThreadLocal));
    status = enqueue(state, slot);
    ended = cuda_status(cudaStreamEndCapture(slot->stream, &graph), "cudaStreamEndCapture", __FILE__, __LINE__);
    TRY(status);
    TRY(ended);
    CUDA_TRY(cudaGraphInstantiate(&slot->graph, graph, 0));
out:
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

static enum status make_slot(struct state *state, struct slot *slot, const struct image *first)
{
    const struct motion_params *params = &state->params;
    const char *blur = device_needs_capability(80) ? "cuda/v2.0" : "cuda/v2.1"; /* the latter: tensor cores */
    enum status status = STATUS_OK;
    struct image gray;

    CUDA_TRY(cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming));
    TRY(motion_step_open(&slot->grayscale, MOTION_GRAYSCALE, params, rung, "cuda/v2.0"));
    TRY(motion_step_open(&slot->blur, MOTION_BLUR, params, rung, blur));
    TRY(step_shape(&slot->grayscale, first, &gray));
    TRY(device_image_create(&slot->frame, first));
    TRY(device_image_create(&slot->gray, &gray));
    TRY(device_image_create(&slot->blurred, &gray));
    /* compute-sanitizer's initcheck looks at the sources of a graph's copies when the graph is launched, before its
     * kernels have written them; a blur with ksize 1 is such a copy. */
    CUDA_TRY(cudaMemset(slot->gray.data, 0, slot->gray.stride * (size_t)gray.height));
    TRY(slot->grayscale.version->setup(slot->grayscale.state, &slot->frame, slot->grayscale.params));
    TRY(slot->blur.version->setup(slot->blur.state, &slot->gray, slot->blur.params));
    if (params->value == MOTION_VALUE_OTSU) {
        TRY(device_image_create(&slot->difference, &gray));
        TRY(otsu_step_setup(&slot->otsu, "cuda/v2.0", &slot->difference));
    }
    TRY(bit_mask_create(&slot->mask, gray.width, gray.height));
    TRY(bit_mask_create(&slot->cleaned, gray.width, gray.height));
    TRY(bit_boxes_create(&slot->boxes, &slot->cleaned));
    CUDA_TRY(cudaHostAlloc((void **)&slot->table, sizeof(int32_t) * BOXES_COLUMNS * (params->max_boxes + 1),
                           cudaHostAllocDefault));
out:
    return status;
}

static void free_slot(struct slot *slot)
{
    if (slot->stream)
        cudaStreamSynchronize(slot->stream);
    if (slot->graph)
        cudaGraphExecDestroy(slot->graph);
    step_close(&slot->grayscale);
    step_close(&slot->blur);
    otsu_step_teardown(&slot->otsu);
    device_image_free(&slot->frame);
    device_image_free(&slot->gray);
    device_image_free(&slot->blurred);
    device_image_free(&slot->difference);
    bit_mask_free(&slot->mask);
    bit_mask_free(&slot->cleaned);
    bit_boxes_free(&slot->boxes);
    cudaFreeHost(slot->table);
    if (slot->done)
        cudaEventDestroy(slot->done);
    if (slot->stream)
        cudaStreamDestroy(slot->stream);
}

static void teardown(struct state *state)
{
    for (int i = 0; i < DEPTH; i++)
        free_slot(&state->slots[i]);
    device_image_free(&state->background.image);
    device_image_free(&state->background.mean);
    *state = {};
}

static enum status allocate(struct state *state, const struct image *first, const struct motion_params *params)
{
    static const enum motion_step fused[] = {MOTION_ABSDIFF, MOTION_THRESHOLD, MOTION_CLOSE, MOTION_LABELLING,
                                             MOTION_BOXES};
    enum status status = STATUS_OK;
    int device = 0;

    for (enum motion_step step : fused)
        TRY(motion_refuse_swap(params, step, rung));
    state->params = *params;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    for (struct slot &slot : state->slots)
        TRY(make_slot(state, &slot, first));
    TRY(device_image_create(&state->background.image, &state->slots->blurred));
    if (motion_has_running_mean(params)) {
        struct image mean = state->background.image;
        mean.type = PIXEL_U16;
        TRY(device_image_create(&state->background.mean, &mean));
        state->background.rate = params->rate;
    }
    CUDA_TRY(cudaDeviceSynchronize()); /* what has been cleared on the default stream, before any other looks at it */
    for (struct slot &slot : state->slots)
        TRY(make_graph(state, &slot));
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------ the pipeline */

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    struct slot *slot = state->slots;
    enum status status = STATUS_OK;

    if (!slot->stream)
        TRY(allocate(state, first, params));
    for (int i = 0; i < DEPTH; i++) /* frames that were submitted and not received */
        CUDA_TRY(cudaStreamSynchronize(state->slots[i].stream));
    state->submitted = state->received = 0;
    TRY(upload(slot, first));
    TRY(launch_blur(slot, &state->background.image));
    if (has_mean(state))
        TRY(mean_step_start(&state->background.mean, &state->background.image, slot->stream));
    CUDA_TRY(cudaStreamSynchronize(slot->stream));
out:
    if (status != STATUS_OK)
        teardown(state);
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    struct slot *slot = &state->slots[state->submitted % DEPTH];
    enum status status = STATUS_OK;

    if (state->submitted - state->received == DEPTH)
        return status_set(STATUS_FAILED, "motion:%s has at most %d frames in flight", rung, DEPTH);
    TRY(upload(slot, frame));
    if (has_mean(state) && state->submitted > 0) /* the mean goes from frame to frame; uploads need not wait for it */
        CUDA_TRY(cudaStreamWaitEvent(slot->stream, state->slots[(state->submitted - 1) % DEPTH].done, 0));
    if (step_is_recording())
        TRY(enqueue(state, slot));
    else
        CUDA_TRY(cudaGraphLaunch(slot->graph, slot->stream));
    if (has_mean(state))
        CUDA_TRY(cudaEventRecord(slot->done, slot->stream));
    state->submitted++;
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    struct slot *slot = &state->slots[state->received % DEPTH];
    enum status status = STATUS_OK;
    int boxes;

    CUDA_TRY(cudaStreamSynchronize(slot->stream));
    boxes = slot->table[0] < state->params.max_boxes ? slot->table[0] : state->params.max_boxes;
    for (int y = 0; y < result->height; y++) {
        const size_t bytes = sizeof(int32_t) * BOXES_COLUMNS;
        if (y <= boxes)
            memcpy(image_row(result, y), slot->table + BOXES_COLUMNS * y, bytes);
        else
            memset(image_row(result, y), 0, bytes);
    }
    phase_count(PHASE_DOWNLOAD, sizeof(int32_t) * BOXES_COLUMNS * (size_t)(boxes + 1));
    state->received++;
out:
    return status;
}

static void *allocate_frames(size_t bytes)
{
    void *memory = NULL;

    return cuda_status(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "cudaHostAlloc", __FILE__, __LINE__) ==
                   STATUS_OK
               ? memory
               : NULL;
}

static void release_frames(void *memory)
{
    cudaFreeHost(memory);
}

RUNGS_PIPELINE_VERSION(motion, .depth = DEPTH, .on_device = true, .allocate = allocate_frames,
                       .release = release_frames)
