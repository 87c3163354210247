/*
 * Problem:  In cuda/v1.3 copies wait while kernels run, and kernels wait during copies.
 * Idea:     Software pipelining: each of four frames has a stream, steps and buffers. While one is
 *           uploaded, kernels find lines in others, and the table of lines of another is
 *           downloaded.
 * Expect:   2.3 times as fast as cuda/v1.3: kernels and downloads overlap with uploads.
 * Result:   1.9 times as fast as cuda/v1.3, 126 us per frame
 *           (results/h100/lines/lines_1920x1080_climb.json): the upload, 121 us, is the limit.
 * Run:      make diff-lines A=cuda/v1.3 B=cuda/v2.0
 */
#include "cuda/lines/shared/finder.h"

static const char rung[] = "cuda/v2.0";
static const struct lines_ids ids = {"cuda/v1.3", "cuda/v2.0", "cuda/v2.1", "cuda/v2.0"};

enum { DEPTH = 4 };

/* What one frame in flight has to itself. */
struct slot {
    cudaStream_t stream;
    struct line_finder finder;
};

struct state {
    struct slot slots[DEPTH];
    unsigned submitted, received; /* frames since start() */
};

static enum status open_slot(struct slot *slot, const struct image *first, const struct lines_params *params)
{
    struct line_finder *finder = &slot->finder;
    enum status status = STATUS_OK;

    CUDA_TRY(cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking));
    TRY(line_finder_open(finder, &ids, first, params));
    finder->lines = finder->table;
    finder->lines.data = NULL;
    CUDA_TRY(cudaHostAlloc((void **)&finder->lines.data, finder->table.stride * (size_t)finder->table.height,
                           cudaHostAllocDefault));
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct lines_params *params)
{
    const bool opens = !state->slots[0].stream;
    enum status status = STATUS_OK;

    for (struct slot &slot : state->slots) {
        if (opens)
            TRY(open_slot(&slot, first, params));
        else /* frames that were submitted and not received */
            CUDA_TRY(cudaStreamSynchronize(slot.stream));
    }
    state->submitted = state->received = 0;
out:
    return status;
}

/* From memory that is not pinned the driver copies by way of its own, and the copy returns when it has read all. */
static enum status submit(struct state *state, const struct image *frame)
{
    struct slot *slot = &state->slots[state->submitted % DEPTH];
    struct line_finder *finder = &slot->finder;
    struct image *to = &finder->frame, *lines = &finder->lines;
    enum status status = STATUS_OK;

    if (state->submitted - state->received == DEPTH)
        return status_set(STATUS_FAILED, "lines:%s has at most %d frames in flight", rung, DEPTH);
    step_begin("upload", slot->stream);
    CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, frame->data, frame->stride, image_row_bytes(to),
                               (size_t)to->height, cudaMemcpyHostToDevice, slot->stream));
    phase_count(PHASE_UPLOAD, image_pixel_bytes(to));
    TRY(line_finder_launch(finder, slot->stream));
    step_begin("download", slot->stream);
    CUDA_TRY(cudaMemcpyAsync(lines->data, finder->table.data, lines->stride * (size_t)lines->height,
                             cudaMemcpyDeviceToHost, slot->stream));
    phase_count(PHASE_DOWNLOAD, lines->stride * (size_t)lines->height);
    state->submitted++;
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    struct slot *slot = &state->slots[state->received % DEPTH];
    enum status status = STATUS_OK;

    CUDA_TRY(cudaStreamSynchronize(slot->stream));
    lines_write(&slot->finder.lines, result);
    state->received++;
out:
    return status;
}

static void teardown(struct state *state)
{
    for (struct slot &slot : state->slots) {
        if (slot.stream)
            cudaStreamSynchronize(slot.stream);
        line_finder_close(&slot.finder);
        cudaFreeHost(slot.finder.lines.data);
        if (slot.stream)
            cudaStreamDestroy(slot.stream);
    }
    *state = {};
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

RUNGS_PIPELINE_VERSION(lines, .depth = DEPTH, .on_device = true, .allocate = allocate_frames, .release = release_frames)
