/*
 * Problem:  cpu/serial makes 17 million votes (additions of 1 to a counter) one by one.
 * Idea:     One thread per pixel: an edge point votes in each row by an atomic operation in global
 *           memory. Search and sort of lines follow (shared/lines.cu).
 * Expect:   30 times as fast as cpu/serial: 1 or 2 lanes of a warp have a point (divergence).
 * Result:   Kernel 480 times as fast as cpu/serial, 391 us
 *           (results/h100/hough/hough_1920x1080.json); cpu/serial takes 188 ms, not 35; the
 *           reason for the rest is not known.
 * Run:      make bench-hough VERSIONS=cuda
 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/lines.h"

struct state {
    struct lines_step lines;
    struct image in, out[2];
};

static __global__ void vote_kernel(struct image in, struct image accumulator,
                                   const __grid_constant__ struct lines_step step,
                                   const __grid_constant__ struct hough_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct hough_gradient gradient = {0, 0};

    if (x >= in.width || y >= in.height || !hough_is_point(&in, x, y, &params, &gradient))
        return;
    int bin = hough_bin(step.directions, step.space.rows, gradient);
    for (int n = 0; n < step.space.rows; n++)
        if (hough_votes_for(&params, bin, n))
            atomicAdd((int *)image_row(&accumulator, n) + step.space.centre + hough_offset(x, y, step.angles[n]), 1);
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    return lines_setup(&state->lines, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    TRY(lines_clear(&state->lines, out, stream));
    vote_kernel<<<grid, block, 0, stream>>>(*in, lines_accumulator(&state->lines, out), state->lines, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(lines_launch(&state->lines, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    device_image_free(&state->in);
    device_image_free(&state->out[0]);
    device_image_free(&state->out[1]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(device_image_create(&state->out[slot], &out[slot]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(device_download(&out[slot], &state->out[slot]));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(hough)
