/*
 * Problem:  cpu/serial makes 97 million votes (additions of 1 to a counter) one by one.
 * Idea:     One thread per pixel: an edge point votes in each row of both spaces by an atomic
 *           operation in global memory. Search for lines and sort are those of hough
 *           (shared/pclines.h).
 * Expect:   60 times as fast as cpu/serial: 7.9 MB of counters stay in L2; few lanes have a point.
 * Result:   Kernel 834 times as fast as cpu/serial (results/h100/pclines/pclines_1920x1080.json),
 *           which takes 1.9 s there, not 0.4 s; the reason for the rest is not known.
 * Run:      make bench-pclines VERSIONS=cuda
 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct image in, out[2];
};

static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct hough_gradient gradient = {};

    if (x >= in.width || y >= in.height || !hough_is_point(&in, x, y, &params.hough, &gradient))
        return;
    for (int n = 0; n < space.rows; n++)
        if (pclines_votes_for(&params, pclines_bin(&params, gradient), n))
            atomicAdd((int *)image_row(&accumulator, n) + space.centre +
                          pclines_offset(x - in.width / 2, y - in.height / 2, n, &params),
                      1);
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    return pclines_setup(&state->step, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    TRY(lines_clear(lines, out, stream));
    vote_kernel<<<grid, block, 0, stream>>>(*in, lines->space, lines_accumulator(lines, out), *params);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    device_image_free(&state->in);
    device_image_free(&state->out[0]);
    device_image_free(&state->out[1]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct pclines_params *params)
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

RUNGS_CUDA_VERSION_WITH_RUN(pclines)
