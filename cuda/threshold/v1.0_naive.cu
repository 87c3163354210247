/*
 * Problem:  The host's memory limits cpu/simd; a GPU's memory has over ten times its bandwidth.
 * Idea:     One thread per pixel compares it with the threshold. Every call allocates device
 *           memory, uploads, computes, downloads and frees.
 * Expect:   Kernel 20 us at 3840x2160. End to end slower than cpu/simd: upload and download take
 *           460 us each (8 MB at 18 GB/s), allocate and free as much again.
 * Result:   Kernel 34 us, end to end 2232 us; cpu/simd with 16 threads 170 us
 *           (results/h100/threshold/threshold_3840x2160.json).
 * Run:      make bench-threshold VERSIONS=cpu/simd,cuda/v1.0
 */
#include "common/algo/threshold.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu_step.h"

struct state {
    struct otsu_step otsu;
    struct image in, out;
};

/* found: where otsu left its threshold, or NULL. */
static __global__ void threshold_kernel(struct image in, struct image out, int value, const int *found)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    if (found)
        value = *found;
    for (int c = 0; c < out.channels; c++) {
        int sample = ((const uint8_t *)image_row(&in, y))[x * in.channels + c];
        ((uint8_t *)image_row(&out, y))[x * out.channels + c] = sample > value ? 255 : 0;
    }
}

static enum status setup(struct state *state, const struct image in[], const struct threshold_params *params)
{
    return params->value == THRESHOLD_OTSU ? otsu_step_setup(&state->otsu, "cuda/v1.0", in) : STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct threshold_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    if (params->value == THRESHOLD_OTSU)
        TRY(otsu_step_launch(&state->otsu, in, stream));
    threshold_kernel<<<grid, block, 0, stream>>>(*in, *out, params->value, (const int *)state->otsu.result.data);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    otsu_step_teardown(&state->otsu);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct threshold_params *params)
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

RUNGS_CUDA_VERSION_WITH_RUN(threshold)
