/*
 * Idea:     a block a run of rows, with counters in shared memory: the circular buffer of n rows (Jošth 2014, algorithm 4).
 *           All points vote for one row, then for the next; as soon as a row has its neighbours, it is searched. The whole
 *           accumulator never exists, unless it is asked for.
 * Changed:  the points are listed first (steps/points.cuh), a thread takes every 256th; a block computes n / 2 rows beyond
 *           its run at either end, where theta wraps. Where n rows do not fit in shared memory, they lie in global memory.
 * Expect:   votes 3 times as fast as v1.1: shared atomics of a block take 32 a cycle where they do not meet. With runs of 4
 *           rows there are 45 blocks for 132 multiprocessors, and half as many votes again for the overlap.
 */
/* Try: make bench-hough VERSIONS=cuda */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/steps/buffer.cuh"
#include "cuda/hough/steps/lines.h"
#include "cuda/hough/steps/points.h"

struct state {
    struct lines_step lines;
    struct points_step points;
    int *counters; /* of all blocks, when they do not fit in shared memory */
};

static __device__ void fill_row(struct buffer buffer, int *counters, const struct lines_step &lines,
                                const struct points_step &points, const struct hough_params &params, int v)
{
    const int rows = params.theta_steps, n = v < 0 ? v + rows : v >= rows ? v - rows : v;
    const unsigned count = n != v && params.window == HOUGH_CROSS ? 0 : *points.count;
    int *row = buffer_row(buffer, counters, v);
    struct hough_angle angle = lines.angles[n];

    for (int i = threadIdx.x; i < buffer.width; i += blockDim.x)
        row[i - buffer.radius - buffer.reach] = 0;
    __syncthreads();
    if (n != v)
        angle = {-angle.cosine, -angle.sine};
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const struct points_item item = points.items[i];
        if (hough_votes_for(&params, item.bin, n))
            atomicAdd(&row[hough_offset(item.place & 0xffff, item.place >> 16, angle)], 1);
    }
    __syncthreads();
}

static __global__ void rows_kernel(struct buffer buffer, int *all_counters, int run,
                                   const __grid_constant__ struct lines_step lines, struct points_step points,
                                   struct image accumulator, const __grid_constant__ struct hough_params params)
{
    extern __shared__ int shared_counters[];
    int *counters = all_counters ? all_counters + (size_t)blockIdx.x * buffer.n * buffer.width : shared_counters;
    const int first = blockIdx.x * run, last = min(first + run, params.theta_steps);

    for (int v = first - buffer.radius; v < last + buffer.radius; v++) {
        const int n = v - buffer.radius, *row = buffer_row(buffer, counters, v);
        fill_row(buffer, counters, lines, points, params, v);
        for (int i = threadIdx.x; accumulator.data && v >= first && v < last && i < accumulator.width; i += blockDim.x)
            ((int *)image_row(&accumulator, v))[i] =
                abs(i - lines.space.centre) <= buffer.reach ? row[i - lines.space.centre] : 0;
        if (n < first || !lines.keys)
            continue;
        row = buffer_row(buffer, counters, n);
        for (int i = threadIdx.x - buffer.reach; i <= buffer.reach; i += blockDim.x)
            if (buffer_is_line(buffer, counters, params, n, i))
                lines_found(lines, n, lines.space.centre + i, row[i]);
        __syncthreads();
    }
}

enum { RUN = 4, THREADS = 256 };

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    const struct buffer buffer = buffer_make(in, params);
    const size_t bytes = buffer_bytes(buffer);
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(points_setup(&state->points, in));
    if (bytes > BUFFER_MOST_SHARED && !state->counters)
        TRY(device_allocate((void **)&state->counters, ceiling_divide(params->theta_steps, RUN) * bytes));
    CUDA_TRY(cudaFuncSetAttribute(rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BUFFER_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct buffer buffer = buffer_make(in, params);
    const size_t shared = state->counters ? 0 : buffer_bytes(buffer);
    const unsigned blocks = ceiling_divide(params->theta_steps, RUN);

    TRY(points_launch(&state->points, in, state->lines.directions, params, stream));
    if (out[0].data)
        TRY(lines_begin(&state->lines, stream));
    rows_kernel<<<blocks, THREADS, shared, stream>>>(buffer, state->counters, RUN, state->lines, state->points, out[1],
                                                     *params);
    CUDA_TRY(cudaGetLastError());
    if (out[0].data)
        TRY(lines_end(&state->lines, &out[0], params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    points_teardown(&state->points);
    device_free(state->counters);
}

RUNGS_CUDA_VERSION(hough)
