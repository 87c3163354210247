/*
 * Idea:     nothing but the frame's upload takes time of its own: while a frame is computed the next ones go up.
 * Changed:  four frames are in flight, each with a stream and buffers; submit() enqueues, receive() waits for the oldest. Frames
 *           want to be in pinned memory. A running mean goes from frame to frame, by an event.
 * Expect:   10 times v1.4 at 1920x1080: 115 us a frame, the 6.2 MB over PCIe at 55 GB/s from pinned memory; the kernels hide
 *           behind it. At 596x336 the upload is 11 us, but the host enqueues some 10 calls a frame, 30 us, and decides.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.4,cuda/v1.5,cuda/v2.0 */
#include "cuda/motion/shared/frame.h"

static const char rung[] = "cuda/v1.5";

enum { DEPTH = 4 };

struct slot {
    struct bit_frame frame;
    cudaEvent_t done;
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
        bit_frame_free(&slot.frame);
        if (slot.done)
            cudaEventDestroy(slot.done);
    }
    bit_background_free(&state->background);
    *state = {};
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
    TRY(bit_frame_enqueue(&slot->frame, &state->background, &state->params, state->multiprocessors));
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
