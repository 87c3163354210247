/*
 * Idea:     the input is uploaded once, with the buffers that persist.
 * Changed:  the upload stands inside the `if` that makes the buffer.
 * Expect:   returned the result of an earlier call
 */
#include "common/cuda/device.h"
#include "tests/mutants/blur/mutant.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights;
    struct image in, out;
};

static __global__ void blur_kernel(struct image in, struct image out, const struct weights w, int ksize)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++)
        mutant_put(&out, x, y, c, mutant_sample(&in, w.at, ksize, x, y, c));
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(16, 16), grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    blur_kernel<<<grid, block, 0, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    device_image_free(&state->in);
    device_image_free(&state->out);
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct blur_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data) {
        TRY(device_image_create(&state->in, in));
        TRY(device_image_create(&state->out, out));
        TRY(device_upload(&state->in, in));
    }
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(blur)
