/*
 * Idea:     turn scatter into gather by rows: a block a row, whose counters lie in shared memory, 7.7 KB at 1920x1080. All
 *           points vote for it, and what is not 0 is added to the accumulator.
 * Changed:  the points are listed first (cuda/hough/shared/points.cu), a slice of them for each of two blocks of a row. Rows
 *           of more than 227 KB are voted for in global memory. run() is the harness's (common/cuda/device_run.cu).
 * Expect:   votes 4 times as fast as v1.1: all lanes of a warp vote, shared atomics take 32 a cycle where they do not meet, and
 *           2048 blocks of 128 threads are just what 132 multiprocessors take at a time. 95,000 points are read 1024 times
 *           from second-level cache, 0.8 GB.
 * Result:   372 us, 4.3 times v1.1 (results/h200/pclines/pclines_1920x1080.json).
 */
/* Try: make bench-pclines VERSIONS=cuda */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct points_step points;
};

static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params, struct points_step points)
{
    extern __shared__ int counters[];
    int n = blockIdx.x, *to = (int *)image_row(&accumulator, n);

    for (int i = threadIdx.x; i < space.cells; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < *points.count; i += gridDim.y * blockDim.x) {
        int x = points.items[i].place & 0xffff, y = points.items[i].place >> 16;
        if (pclines_votes_for(&params, (int)points.items[i].bin, n))
            atomicAdd(&counters[space.centre + pclines_offset(x - in.width / 2, y - in.height / 2, n, &params)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < space.cells; i += blockDim.x)
        if (counters[i] > 0)
            atomicAdd(&to[i], counters[i]);
}

enum { SLICES = 2, THREADS = 128 };

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(points_setup(&state->points, in));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, PCLINES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    size_t shared = lines->space.cells * sizeof(int);
    dim3 grid(lines->space.rows, rows_slices(in, SLICES));

    TRY(points_launch(&state->points, in, NULL, &params->hough, stream));
    TRY(lines_clear(lines, out, stream));
    if (shared > PCLINES_MOST_SHARED)
        TRY(pclines_vote_globally(lines, in, &state->points, out, params, grid.y, stream));
    else
        vote_kernel<<<grid, THREADS, shared, stream>>>(*in, lines->space, lines_accumulator(lines, out), *params,
                                                       state->points);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    points_teardown(&state->points);
}

RUNGS_CUDA_VERSION(pclines)
