/*
 * Idea:     a block a run of rows, with counters in shared memory: the circular buffer of n rows (Jošth 2014, algorithm
 *           4). All points vote for one row, then for the next; as soon as a row has its neighbours, it is searched. The
 *           whole accumulator never exists, unless it is asked for.
 * Changed:  the points are listed first (shared/points.cu), a thread takes every 256th; a block computes n / 2 rows beyond
 *           its run at either end, where theta wraps. Where n rows do not fit in shared memory, they lie in global memory.
 *           run() is the harness's (common/cuda/device_run.cu).
 * Expect:   votes 3 times as fast as v1.1: shared atomics of a block take 32 a cycle where they do not meet. With runs of
 *           4 rows there are 45 blocks for 132 multiprocessors, and half as many votes again for the overlap.
 * Result:   4 times slower instead, kernels of 1.44 ms where v1.1 has 0.37 ms at 1920x1080, and 2.8 times slower at
 *           3840x2160 (results/h200/hough/hough_1920x1080_sobel.json, results/h200/hough/hough_3840x2160_sobel.json). 45
 *           blocks leave two multiprocessors of three without work; on the others, 8 warps are too few to hide that a vote
 *           waits for its point, two conversions and an atomic, and points that follow each other in the list lie along an
 *           edge, so that in the rows along it the votes of a warp meet in one counter, one after the other. v1.1 has the
 *           threads of a whole picture to hide all that. v1.4 leaves the overlap out and gives each row a block.
 */
/* Try: make bench-hough VERSIONS=cuda */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/buffer.cuh"
#include "cuda/hough/shared/lines.h"

struct state {
    struct lines_step lines;
    struct buffer buffer;
};

static __global__ void vote_kernel(struct buffer buffer, int run, struct image accumulator,
                                   const __grid_constant__ struct lines_step step,
                                   const __grid_constant__ struct hough_params params)
{
    extern __shared__ int shared[];
    int *counters = buffer_counters(buffer, shared);

    for (int first = blockIdx.x * run; first < params.theta_steps; first += gridDim.x * run) {
        const int last = min(first + run, params.theta_steps);
        for (int n = first - buffer.radius; n < last + buffer.radius; n++) {
            buffer_fill_row(buffer, counters, step, params, n);
            if (accumulator.data && n >= first && n < last)
                buffer_write_row(buffer, counters, step.space, n, (int *)image_row(&accumulator, n));
            if (step.keys && n - buffer.radius >= first)
                buffer_search_row(buffer, counters, step, params, n - buffer.radius);
        }
    }
}

enum { RUN = 4, THREADS = 256 };

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(buffer_setup(&state->buffer, in, params));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BUFFER_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const unsigned blocks = buffer_blocks(state->buffer, params->theta_steps, RUN);

    TRY(points_launch(&state->buffer.points, in, state->lines.directions, params, stream));
    TRY(lines_begin(&state->lines, stream));
    vote_kernel<<<blocks, THREADS, buffer_shared(state->buffer), stream>>>(state->buffer, RUN, out[1], state->lines,
                                                                           *params);
    CUDA_TRY(cudaGetLastError());
    TRY(lines_end(&state->lines, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    buffer_teardown(&state->buffer);
}

RUNGS_CUDA_VERSION(hough)
