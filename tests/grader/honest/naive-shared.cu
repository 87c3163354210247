// expect: right 10..10
/* Idea: a block brings its bytes to shared memory first; weights lie in constant memory */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    struct image in, out;
};

static __constant__ unsigned weights[3] = {GRAYSCALE_RED, GRAYSCALE_GREEN, GRAYSCALE_BLUE};

static __global__ void grayscale_kernel(struct image in, struct image out)
{
    __shared__ uint8_t tile[32][96];
    const int left = blockIdx.x * blockDim.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int bytes = 3 * min(32, out.width - left);

    if (y < out.height)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int i = threadIdx.x + 32 * k;
            if (i < bytes)
                tile[threadIdx.y][i] = ((const uint8_t *)image_row(&in, y))[3 * left + i];
        }
    __syncthreads();
    if (y >= out.height || left + (int)threadIdx.x >= out.width)
        return;
    const uint8_t *rgb = &tile[threadIdx.y][3 * threadIdx.x];
    const unsigned sum = weights[0] * rgb[0] + weights[1] * rgb[1] + weights[2] * rgb[2];
    ((uint8_t *)image_row(&out, y))[left + threadIdx.x] = (uint8_t)((sum + (1u << (GRAYSCALE_BITS - 1))) >> GRAYSCALE_BITS);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

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

RUNGS_CUDA_VERSION_WITH_RUN(grayscale)
