/*
 * Problem:  cuda/v1.0 allocates and frees device memory in every call.
 * Idea:     Persistent buffers: the first call allocates, and all later calls use the same memory.
 * Expect:   1.25 times as fast end to end: 0.2 ms of 1.0 ms go; upload, kernels and download stay.
 * Result:   End to end 1.87 times as fast as cuda/v1.0, 0.51 ms
 *           (results/h100/edges/edges_1920x1080.json): allocation took twice the predicted time.
 * Run:      make diff-edges A=cuda/v1.0 B=cuda/v1.1
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"

struct state {
    struct edges_step step;
    struct image magnitudes; /* with a frame of zeros one pixel wide */
    struct image in, out[2];
};

static __device__ int16_t *magnitude_row(const struct image &magnitudes, int y)
{
    return (int16_t *)image_row(&magnitudes, y + 1) + 1;
}

static __global__ void magnitude_kernel(struct image in, struct image magnitudes)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        magnitude_row(magnitudes, y)[x] = (int16_t)edges_magnitude(hough_sobel(&in, x, y));
}

static __global__ void mark_kernel(struct image in, struct image mask, const struct edges_thresholds *thresholds,
                                   bool thin, struct image magnitudes)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    const int16_t *above = magnitude_row(magnitudes, y - 1), *row = magnitude_row(magnitudes, y);
    const int16_t *below = magnitude_row(magnitudes, y + 1);
    int own = row[x];
    bool kept = own > thresholds->weak;
    if (kept && thin)
        kept = edges_is_ridge(hough_sobel(&in, x, y), above, row, below, x);
    ((uint8_t *)image_row(&mask, y))[x] = !kept ? EDGES_NOTHING : own > thresholds->strong ? EDGES_STRONG : EDGES_WEAK;
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    const struct image framed = {.width = in->width + 2, .height = in->height + 2, .channels = 1, .type = PIXEL_U16};
    enum status status = STATUS_OK;

    TRY(edges_setup(&state->step, in, params));
    if (state->magnitudes.data)
        return STATUS_OK;
    TRY(device_image_create(&state->magnitudes, &framed));
    TRY(device_clear(state->magnitudes.data, state->magnitudes.stride * (size_t)framed.height));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    TRY(edges_begin(&state->step, in, params, stream));
    magnitude_kernel<<<grid, block, 0, stream>>>(*in, state->magnitudes);
    CUDA_TRY(cudaGetLastError());
    mark_kernel<<<grid, block, 0, stream>>>(*in, mask, state->step.thresholds, params->thin == EDGES_CANNY,
                                            state->magnitudes);
    CUDA_TRY(cudaGetLastError());
    TRY(edges_end(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
    device_image_free(&state->magnitudes);
    device_image_free(&state->in);
    device_image_free(&state->out[0]);
    device_image_free(&state->out[1]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct edges_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data && !state->out[slot].data)
            TRY(device_image_create(&state->out[slot], &out[slot]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(device_download(&out[slot], &state->out[slot]));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(edges)
