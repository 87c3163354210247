/*
 * Idea:     how many rows a block takes on, and with how many threads, is found by search, not assumed.
 * Changed:  run and threads are tunables.
 * Expect:   runs of 1 or 2: with 180 rows for 132 multiprocessors, each row of a run more leaves more of them idle, though
 *           the overlap triples the votes at runs of 1. 512 threads or 1024: a vote waits for its point 0.3 us, and only
 *           more warps hide that. The scheme of the thesis is made for many more rows than multiprocessors.
 */
/* Try: make bench-hough VERSIONS=cuda
 *      make tune-hough V=cuda/v1.3 */
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

static int run = 4, threads = 256;
static const int runs[] = {1, 2, 3, 4, 6, 8, 16, 32, 0}, thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"run", &run, runs, "rows of a block, besides the overlap"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

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

static __global__ void rows_kernel(struct buffer buffer, int *all_counters, int own_rows,
                                   const __grid_constant__ struct lines_step lines, struct points_step points,
                                   struct image accumulator, const __grid_constant__ struct hough_params params)
{
    extern __shared__ int shared_counters[];
    int *counters = all_counters ? all_counters + (size_t)blockIdx.x * buffer.n * buffer.width : shared_counters;
    const int first = blockIdx.x * own_rows, last = min(first + own_rows, params.theta_steps);

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

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    const struct buffer buffer = buffer_make(in, params);
    const size_t bytes = buffer_bytes(buffer);
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(points_setup(&state->points, in));
    if (bytes > BUFFER_MOST_SHARED && !state->counters)
        TRY(device_allocate((void **)&state->counters, ceiling_divide(params->theta_steps, run) * bytes));
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
    const unsigned blocks = ceiling_divide(params->theta_steps, run);

    TRY(points_launch(&state->points, in, state->lines.directions, params, stream));
    if (out[0].data)
        TRY(lines_begin(&state->lines, stream));
    rows_kernel<<<blocks, threads, shared, stream>>>(buffer, state->counters, run, state->lines, state->points, out[1],
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

RUNGS_CUDA_VERSION(hough, .tunables = tunables)
