/*
 * Idea:     how many rows a block takes on, and with how many threads, is found by search, not assumed.
 * Changed:  run and threads are tunables.
 * Expect:   runs of 1 or 2: with 180 rows for 132 multiprocessors, each row of a run more leaves more of them idle, though
 *           the overlap triples the votes at runs of 1. 512 threads or 1024: a vote waits for its point 0.3 us, and only
 *           more warps hide that. The scheme of the thesis is made for many more rows than multiprocessors.
 * Result:   1.43 ms, as v1.2 (results/h200/hough/hough_1920x1080_rows.json).
 */
/* Try: make bench-hough VERSIONS=cuda
 *      make tune-hough V=cuda/v1.3 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/buffer.cuh"
#include "cuda/hough/shared/lines.h"

struct state {
    struct lines_step lines;
    struct buffer buffer;
};

static int run = 4, threads = 256;
static const int runs[] = {1, 2, 3, 4, 6, 8, 16, 32, 0}, thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"run", &run, runs, "rows of a block, besides the overlap"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

static __global__ void vote_kernel(struct buffer buffer, int own_rows, struct image accumulator,
                                   const __grid_constant__ struct lines_step step,
                                   const __grid_constant__ struct hough_params params)
{
    extern __shared__ int shared[];
    int *counters = buffer_counters(buffer, shared);

    for (int first = blockIdx.x * own_rows; first < params.theta_steps; first += gridDim.x * own_rows) {
        const int last = min(first + own_rows, params.theta_steps);
        for (int n = first - buffer.radius; n < last + buffer.radius; n++) {
            buffer_fill_row(buffer, counters, step, params, n);
            if (accumulator.data && n >= first && n < last)
                buffer_write_row(buffer, counters, step.space, n, (int *)image_row(&accumulator, n));
            if (step.keys && n - buffer.radius >= first)
                buffer_search_row(buffer, counters, step, params, n - buffer.radius);
        }
    }
}

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
    const unsigned blocks = buffer_blocks(state->buffer, params->theta_steps, run);

    TRY(points_launch(&state->buffer.points, in, state->lines.directions, params, stream));
    TRY(lines_begin(&state->lines, stream));
    vote_kernel<<<blocks, threads, buffer_shared(state->buffer), stream>>>(state->buffer, run, out[1], state->lines,
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

RUNGS_CUDA_VERSION(hough, .tunables = tunables)
