/*
 * Problem:  cuda/v1.3 downloads 8.3 MB of component numbers per frame and makes boxes on the host.
 * Idea:     Kernel fusion on bit masks, 32 pixels per word (kernels in shared/): one kernel
 *           subtracts, compares and packs; one closes and opens; three find components and boxes on
 *           the device, so only boxes are downloaded. Blur becomes cuda/v2.2 (tensor cores).
 * Expect:   2.6 times as fast as cuda/v1.3 at 1920x1080: the upload, 1.4 ms, is most of the rest.
 * Result:   2.8 times as fast as cuda/v1.3, 1.35 ms per frame
 *           (results/h100/motion/motion_1920x1080.json).
 * Run:      make diff-motion A=cuda/v1.3 B=cuda/v2.0
 */
#include "cuda/motion/shared/frame.h"

static const char rung[] = "cuda/v2.0";

struct state {
    struct motion_params params;
    struct bit_frame frame;
    struct bit_background background;
    int multiprocessors;
    struct image submitted; /* not yet received; the pixels are the caller's */
};

static void teardown(struct state *state)
{
    bit_frame_free(&state->frame);
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
    TRY(bit_frame_create(&state->frame, first, params, rung));
    TRY(bit_background_create(&state->background, &state->frame, params));
out:
    return status;
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!state->frame.stream)
        TRY(allocate(state, first, params));
    TRY(bit_background_start(&state->background, &state->frame, first));
out:
    if (status != STATUS_OK)
        teardown(state);
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->submitted = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(bit_frame_upload(&state->frame, &state->submitted));
    TRY(bit_frame_enqueue(&state->frame, &state->background, &state->params, state->multiprocessors));
    CUDA_TRY(cudaStreamSynchronize(state->frame.stream));
    bit_frame_read(&state->frame, &state->params, result);
out:
    return status;
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true)
