/*
 * Problem:  In cuda/v1.2 85 % of a frame are upload: the driver copies pageable memory first.
 * Idea:     Pinned memory: the device copies from it directly while the host goes on. submit()
 *           enqueues upload, kernels and download in a stream; receive() waits for the lines.
 * Expect:   6 times as fast as cuda/v1.2: 6.2 MB at 55 GB/s take 0.11 ms.
 * Result:   5.4 times as fast as cuda/v1.2, 242 us per frame
 *           (results/h100/lines/lines_1920x1080_climb.json).
 * Run:      make diff-lines A=cuda/v1.2 B=cuda/v1.3
 */
#include "cuda/lines/shared/finder.h"

static const struct lines_ids ids = {"cuda/v1.3", "cuda/v2.0", "cuda/v2.1", "cuda/v2.0"};

struct state {
    cudaStream_t stream;
    struct line_finder finder;
};

static enum status start(struct state *state, const struct image *first, const struct lines_params *params)
{
    struct line_finder *finder = &state->finder;
    enum status status = STATUS_OK;

    if (finder->lines.data)
        return STATUS_OK;
    CUDA_TRY(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
    TRY(line_finder_open(finder, &ids, first, params));
    finder->lines = finder->table;
    finder->lines.data = NULL;
    CUDA_TRY(cudaHostAlloc((void **)&finder->lines.data, finder->table.stride * (size_t)finder->table.height,
                           cudaHostAllocDefault));
out:
    return status;
}

/* From memory that is not pinned the driver copies by way of its own, and the copy returns when it has read all. */
static enum status submit(struct state *state, const struct image *frame)
{
    struct line_finder *finder = &state->finder;
    struct image *to = &finder->frame, *lines = &finder->lines;
    enum status status = STATUS_OK;

    step_begin("upload", state->stream);
    CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, frame->data, frame->stride, image_row_bytes(to),
                               (size_t)to->height, cudaMemcpyHostToDevice, state->stream));
    phase_count(PHASE_UPLOAD, image_pixel_bytes(to));
    TRY(line_finder_launch(finder, state->stream));
    step_begin("download", state->stream);
    CUDA_TRY(cudaMemcpyAsync(lines->data, finder->table.data, lines->stride * (size_t)lines->height,
                             cudaMemcpyDeviceToHost, state->stream));
    phase_count(PHASE_DOWNLOAD, lines->stride * (size_t)lines->height);
out:
    return status;
}

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaStreamSynchronize(state->stream));
    lines_write(&state->finder.lines, result);
out:
    return status;
}

static void teardown(struct state *state)
{
    line_finder_close(&state->finder);
    cudaFreeHost(state->finder.lines.data);
    if (state->stream)
        cudaStreamDestroy(state->stream);
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

RUNGS_PIPELINE_VERSION(lines, .depth = 1, .on_device = true, .allocate = allocate_frames, .release = release_frames)
