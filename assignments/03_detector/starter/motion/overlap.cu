/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cuda/v1.1)
 * Expect:   (which times no longer add up, and what a frame takes now; write it BEFORE you measure)
 */
#include "common/algo/motion.h"
#include "common/cuda/device.h"
#include "common/cuda/mean_step.h"

enum { DEPTH = 1 }; /* frames in flight */

/* What one frame in flight has to itself. */
struct slot {
    cudaStream_t stream;
    struct step steps[MOTION_STEPS];
};

struct state {
    struct slot slots[DEPTH];
    unsigned submitted, received; /* frames since start() */
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

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    (void)state, (void)first, (void)params;
    return status_set(STATUS_FAILED, "overlap.cu is not written yet");
}

/* Enqueues all that the device does for this frame, and returns. */
static enum status submit(struct state *state, const struct image *frame)
{
    (void)state, (void)frame;
    return status_set(STATUS_FAILED, "overlap.cu is not written yet");
}

/* Waits for the oldest frame; its boxes. */
static enum status receive(struct state *state, struct image *result)
{
    (void)state, (void)result;
    return status_set(STATUS_FAILED, "overlap.cu is not written yet");
}

static void teardown(struct state *state)
{
    for (int i = 0; i < DEPTH; i++)
        motion_steps_close(state->slots[i].steps);
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
