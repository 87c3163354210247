/*
 * Idea:     One thread per pixel adds up its ksize x ksize neighbourhood from global memory. Every
 *           call allocates device memory, uploads, computes, downloads and frees.
 * Expect:   Kernel over 1000 times as fast as cpu/serial: 16896 lanes work at a time. Half of a
 *           3840x2160 call goes to allocate and free (0.1 ms each), upload and download (8 MB at 18
 *           GB/s: 0.46 ms each).
 * Result:   Kernel 2468 times as fast as cpu/serial, 1.1 ms of 3.6 ms end to end
 *           (results/h100/blur/blur_3840x2160.json): the rest costs twice as much as expected.
 * Run:      make bench-blur VERSIONS=cuda/v1.0,cuda/v1.1,cuda/v1.2,cuda/v1.3
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights *weights; /* in device memory */
    struct image in, out;
};

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __global__ void blur_kernel(struct image in, struct image out, const struct weights *w, int ksize)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++) {
            const uint8_t *row = (const uint8_t *)image_row(&in, clamp(y + j - ksize / 2, in.height - 1));
            for (int i = 0; i < ksize; i++)
                sum += w->at[j] * w->at[i] * row[clamp(x + i - ksize / 2, in.width - 1) * in.channels + c];
        }
        ((uint8_t *)image_row(&out, y))[x * out.channels + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    struct weights weights;

    (void)in;
    if (state->weights)
        return STATUS_OK;
    blur_weights(params, weights.at);
    TRY(device_allocate((void **)&state->weights, sizeof weights));
    TRY(device_upload_bytes(state->weights, &weights, sizeof weights));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    size_t shared = 0;

    blur_kernel<<<grid, block, shared, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->weights);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct blur_params *params)
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

RUNGS_CUDA_VERSION_WITH_RUN(blur)
