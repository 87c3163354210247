/*
 * Problem:  In cuda/v2.0 the device waits during each upload, and the upload reads pageable memory.
 * Idea:     Each of four frames has a stream and buffers: one is uploaded from pinned memory while
 *           others are computed. A CUDA graph launches a frame's kernels in one call.
 * Expect:   10 times as fast as cuda/v2.0: a frame takes as long as its upload, 6.2 MB over PCIe,
 *           and the kernels, 35 us, overlap with it.
 * Result:   11.5 times as fast as cuda/v2.0, 118 us per frame
 *           (results/h100/motion/motion_1920x1080.json), as predicted.
 * Run:      make diff-motion A=cuda/v2.0 B=cuda/v2.1
 */
#include "cuda/motion/shared/frame.h"

static const char rung[] = "cuda/v2.1";

enum { DEPTH = 4 };

struct slot {
    struct bit_frame frame;
    cudaEvent_t done;
    cudaGraphExec_t graph; /* all but the upload: that has another address each time, and may start before the rest */
};

struct state {
    struct motion_params params;
    struct slot slots[DEPTH];
    struct bit_background background;
    int multiprocessors;
    unsigned submitted, received; /* frames since start() */
};

static void teardown(struct state *state)
{
    for (struct slot &slot : state->slots) {
        if (slot.frame.stream)
            cudaStreamSynchronize(slot.frame.stream);
        if (slot.graph)
            cudaGraphExecDestroy(slot.graph);
        bit_frame_free(&slot.frame);
        if (slot.done)
            cudaEventDestroy(slot.done);
    }
    bit_background_free(&state->background);
    *state = {};
}

static enum status enqueue(struct state *state, struct slot *slot)
{
    return bit_frame_enqueue(&slot->frame, &state->background, &state->params, state->multiprocessors);
}

/* One call hands all kernels to the device. They are recorded as they would run. */
static enum status make_graph(struct state *state, struct slot *slot)
{
    cudaGraph_t graph = NULL;
    enum status status = STATUS_OK, ended;

    CUDA_TRY(cudaStreamBeginCapture(slot->frame.stream, cudaStreamCaptureModeThreadLocal));
    status = enqueue(state, slot);
    ended = cuda_status(cudaStreamEndCapture(slot->frame.stream, &graph), "cudaStreamEndCapture", __FILE__, __LINE__);
    TRY(status);
    TRY(ended);
    CUDA_TRY(cudaGraphInstantiate(&slot->graph, graph, 0));
out:
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

static enum status allocate(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;
    int device = 0;

    state->params = *params;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    for (struct slot &slot : state->slots) {
        TRY(bit_frame_create(&slot.frame, first, params, rung));
        CUDA_TRY(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming));
    }
    TRY(bit_background_create(&state->background, &state->slots->frame, params));
    for (struct slot &slot : state->slots)
        TRY(make_graph(state, &slot));
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->slots->frame.stream)
        TRY(allocate(state, first, params));
    for (struct slot &slot : state->slots) /* frames that were submitted and not received */
        CUDA_TRY(cudaStreamSynchronize(slot.frame.stream));
    state->submitted = state->received = 0;
    TRY(bit_background_start(&state->background, &state->slots->frame, first));
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
    TRY(bit_frame_upload(&slot->frame, frame));
    if (state->background.mean.data &&
        state->submitted > 0) /* the mean goes from frame to frame; uploads need not wait for it */
        CUDA_TRY(cudaStreamWaitEvent(slot->frame.stream, state->slots[(state->submitted - 1) % DEPTH].done, 0));
    if (step_is_recording())
        TRY(enqueue(state, slot));
    else
        CUDA_TRY(cudaGraphLaunch(slot->graph, slot->frame.stream));
    if (state->background.mean.data)
        CUDA_TRY(cudaEventRecord(slot->done, slot->frame.stream));
    state->submitted++;
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    struct bit_frame *frame = &state->slots[state->received % DEPTH].frame;
    enum status status = STATUS_OK;

    CUDA_TRY(cudaStreamSynchronize(frame->stream));
    bit_frame_read(frame, &state->params, result);
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
