/*
 * Problem:  With orientation=10 one of 9 rows gets a point's vote (adds 1). cuda/v1.3 tests all of
 *           them, and cuda/v2.0 cannot: points of a diagonal do not vote for the same rows.
 * Idea:     A counting sort of the points by gradient angle (Jošth 2014) makes a row's voters one
 *           or two ranges of the list: no tests. Where all vote (orientation=90), take cuda/v2.0.
 * Expect:   2 times as fast as cuda/v1.3 with orientation=10: a ninth of the reads, no tests.
 * Result:   5.0 times as fast as cuda/v1.3, kernel, 149 us; the reason is not known
 *           (results/h100/pclines/pclines_1920x1080_orientation_10.json).
 * Run:      make diff-pclines A=cuda/v1.3 B=cuda/v2.1 P="edges=sobel orientation=10"
 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "common/cuda/warp.cuh"
#include "cuda/hough/shared/tiles.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct tiles_step tiles;
    unsigned *counts; /* of each bin: how many points it has, then where the next of them goes */
    unsigned *starts; /* where each bin begins in `points`, and the end of the last */
    unsigned *points; /* x in the lower half, y in the upper one */
};

enum { THREADS = 256, BLOCKS = 64, SCAN_THREADS = 1024, SLICES = 4, MOST_SHARED = 227 << 10 };

/* A block counts its tiles' points by bin in shared memory, and adds its counts to those of all blocks. With MOVES
 * these are places already: what was there before is where the block's own points of a bin go. */
template <bool MOVES> static __global__ void sort_kernel(struct state state, int bins)
{
    extern __shared__ unsigned own[];

    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        own[bin] = 0;
    __syncthreads();
    for (int tile = blockIdx.x; tile < state.tiles.count; tile += gridDim.x) {
        const struct tiles_list list = tiles_list_of(state.tiles, tile);
        for (int i = threadIdx.x; i < list.count; i += THREADS)
            atomicAdd(&own[list.bins[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        if (own[bin] > 0)
            own[bin] = atomicAdd(&state.counts[bin], own[bin]);
    __syncthreads();
    for (int tile = blockIdx.x; MOVES && tile < state.tiles.count; tile += gridDim.x) {
        const struct tiles_list list = tiles_list_of(state.tiles, tile);
        for (int i = threadIdx.x; i < list.count; i += THREADS)
            state.points[atomicAdd(&own[list.bins[i]], 1u)] =
                (unsigned)list.points[i].y << 16 | (unsigned)list.points[i].x;
    }
}

/* One block: where each bin begins, a prefix sum. A thread has a stretch of bins. */
static __global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(struct state state, int bins)
{
    __shared__ unsigned room[SCAN_THREADS / 32];
    const int own = threadIdx.x, stretch = (bins + SCAN_THREADS - 1) / SCAN_THREADS;
    const int begin = min(own * stretch, bins), end = min(begin + stretch, bins);
    unsigned sum = 0, total;

    for (int bin = begin; bin < end; bin++)
        sum += state.counts[bin];
    sum = block_prefix_sum<SCAN_THREADS / 32>(sum, &total, room);
    for (int bin = begin; bin < end; bin++) {
        state.starts[bin] = sum;
        sum += state.counts[bin];
        state.counts[bin] = state.starts[bin];
    }
    if (own == 0)
        state.starts[bins] = total;
}

/* Block (n, slice): the counters of row n, for a slice of the points of its bins. These lie from `low` to `high`; where
 * the circle closes, those before bin 0 are the last of the list, and those behind the last bin the first. */
static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator, bool fits,
                                   const __grid_constant__ struct pclines_params params, struct state state)
{
    extern __shared__ int counters[];
    int n = blockIdx.x, *to = (int *)image_row(&accumulator, n);
    int *row = fits ? counters : to; /* wide rows do not fit in shared memory */
    int bin = (n - params.d + 1) & (space.rows - 1);
    int low = bin - params.hough.half_width, high = bin + params.hough.half_width + 1;

    for (int i = threadIdx.x; fits && i < space.cells; i += THREADS)
        counters[i] = 0;
    __syncthreads();
    for (int turn = -1; turn <= 1; turn++) {
        unsigned end = state.starts[max(0, min(high + turn * space.rows, space.rows))];
        unsigned i = state.starts[max(0, min(low + turn * space.rows, space.rows))];
        for (i += blockIdx.y * THREADS + threadIdx.x; i < end; i += SLICES * THREADS) {
            int x = (int)(state.points[i] & 0xffff) - in.width / 2, y = (int)(state.points[i] >> 16) - in.height / 2;
            atomicAdd(&row[space.centre + pclines_offset(x, y, n, &params)], 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; fits && i < space.cells; i += THREADS)
        if (counters[i] > 0)
            atomicAdd(&to[i], counters[i]);
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    const size_t bins = (size_t)params->hough.theta_steps, pixels = (size_t)in->width * (size_t)in->height;
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(tiles_setup(&state->tiles, in, &params->hough));
    if (!state->counts)
        TRY(device_allocate((void **)&state->counts, bins * sizeof *state->counts));
    if (!state->starts)
        TRY(device_allocate((void **)&state->starts, (bins + 1) * sizeof *state->starts));
    if (!state->points)
        TRY(device_allocate((void **)&state->points, pixels * sizeof *state->points));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    struct image accumulator = lines_accumulator(lines, out);
    const int bins = params->hough.theta_steps;
    size_t bytes = lines->space.cells * sizeof(int), shared = bins * sizeof(unsigned);
    bool fits = bytes <= MOST_SHARED;

    TRY(tiles_launch(&state->tiles, in, NULL, &params->hough, accumulator, stream));
    CUDA_TRY(cudaMemsetAsync(state->counts, 0, shared, stream));
    sort_kernel<false><<<device_blocks(BLOCKS), THREADS, shared, stream>>>(*state, bins);
    CUDA_TRY(cudaGetLastError());
    scan_kernel<<<1, SCAN_THREADS, 0, stream>>>(*state, bins);
    CUDA_TRY(cudaGetLastError());
    sort_kernel<true><<<device_blocks(BLOCKS), THREADS, shared, stream>>>(*state, bins);
    CUDA_TRY(cudaGetLastError());
    vote_kernel<<<dim3(lines->space.rows, SLICES), THREADS, fits ? bytes : 0, stream>>>(*in, lines->space, accumulator,
                                                                                        fits, *params, *state);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    tiles_teardown(&state->tiles);
    device_free(state->counts);
    device_free(state->starts);
    device_free(state->points);
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct pclines_params *)params)->hough.half_width == HOUGH_ALL_ROWS
               ? "with orientation=90 all points vote for all rows; cuda/v2.0 is for those"
               : NULL;
}

RUNGS_CUDA_VERSION(pclines, .declines = declines, .staged = true)
