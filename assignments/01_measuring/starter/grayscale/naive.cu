/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since the loops of cpu/serial)
 * Expect:   (how long the kernel, the copies and the allocations will take on a GPU, and why)
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    struct image in, out;
};

/* Task 3: which pixel is this thread's? Threads outside the image must do nothing. */
static __global__ void grayscale_kernel(struct image in, struct image out)
{
    (void)in, (void)out;
}

static enum status setup(struct state *state, const struct image in[], const struct grayscale_params *params)
{
    (void)state, (void)in, (void)params;
    return STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(1, 1); /* task 3: as many blocks as cover the image: ceiling_divide() is in common/cuda/device.h */

    (void)state, (void)params;
    grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct grayscale_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION(grayscale)
