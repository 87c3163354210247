/*
 * Problem:  5 of cuda/v2.0's 7 launches clear counters, search and sort: most of the GPU idles.
 * Idea:     Kernel fusion: one kernel does the prefix sum, the sort and the table of lines; each
 *           block computes the whole prefix sum, so none waits for another. The voting kernel
 *           clears the sort's counters. 4 launches are left.
 * Expect:   12 us less than cuda/v2.0: three launches and their loads go.
 * Result:   1.4 times as fast as cuda/v2.0, 64.5 us: 24 us less; the reason is not known
 *           (results/h100/hough/hough_1920x1080.json).
 * Run:      make diff-hough A=cuda/v2.0 B=cuda/v2.1
 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "common/cuda/early.cuh"
#include "common/cuda/warp.cuh"
#include "cuda/hough/shared/lanes.cuh"
#include "cuda/hough/shared/lines.h"
#include "cuda/hough/shared/tiles.h"

struct state {
    struct lines_step lines;
    struct tiles_step tiles;
};

enum { POINTS = 8 /* that a warp loads at a time */, MOST_SHARED = 227 << 10 };
enum { SORTERS = 1024, KEYS = 8 /* that one loads at a time */, MOST_RANKS = 224 << 10 /* bytes */ };

static int threads = 256;
static const int thread_counts[] = {64, 128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"threads", &threads, thread_counts, "threads of a block"}, {}};

/* A block counts what a tile's points vote for in GROUPS * LANES rows of `cells` cells: a warp takes a point, and a
 * lane votes for its own row (shared/lanes.cuh). */
template <bool ALL>
static __global__ void vote_kernel(struct tiles_step tiles, struct image accumulator, int cells,
                                   const __grid_constant__ struct lines_step step,
                                   const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    const int first = blockIdx.x * GROUPS * LANES, last = min(first + GROUPS * LANES, params.theta_steps) - 1;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int group = cells * LANES; /* counters of one */
    const int thread = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    struct hough_angle angles[GROUPS];
    int rows[GROUPS], least[GROUPS];
    unsigned zero[GROUPS]; /* where the counter of offset 0 would be, less the bits of the rounder */

#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        rows[g] = min(first + g * LANES + lane, last); /* lanes beyond the last row count and are not read */
        angles[g] = step.angles[rows[g]];
        least[g] = least_offset(angles[g]);
        zero[g] = (unsigned)(g * group + lane) * 4 - (unsigned)(least[g] + ROUNDER_BITS) * CELL_BYTES;
    }
    for (int i = threadIdx.x; i < GROUPS * group; i += blockDim.x)
        counters[i] = 0;
    allow_next();
    wait_for_last();
    for (int i = thread; step.count && i < step.most_votes + 2; i += gridDim.x * gridDim.y * gridDim.z * blockDim.x)
        step.count[i] = 0;
    __syncthreads();
    const struct tiles_list list = tiles_list_of(tiles, blockIdx.z * gridDim.y + blockIdx.y);
    const int whole = ALL ? list.count / POINTS * POINTS : 0;
    for (int i = warp * POINTS; i < whole; i += warps * POINTS) {
        float4 pairs[POINTS / 2];
        for (int k = 0; k < POINTS / 2; k++)
            pairs[k] = ((const float4 *)&list.points[i])[k];
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            for (int k = 0; k < POINTS / 2; k++) {
                atomicAdd(counter_at(counters, offset_bits({pairs[k].x, pairs[k].y}, angles[g]), zero[g]), 1);
                atomicAdd(counter_at(counters, offset_bits({pairs[k].z, pairs[k].w}, angles[g]), zero[g]), 1);
            }
    }
    for (int i = whole + warp; i < list.count; i += warps)
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (ALL || hough_votes_for(&params, list.bins[i], rows[g]))
                atomicAdd(counter_at(counters, offset_bits(list.points[i], angles[g]), zero[g]), 1);
    __syncthreads();
    const unsigned stride = (unsigned)(accumulator.stride / sizeof *counters);
    int *const to = (int *)accumulator.data + lane % 8;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const unsigned own = (unsigned)rows[g] * stride + (unsigned)(step.space.centre + least[g]);
        const bool counts = first + g * LANES + lane <= last;
        unsigned places[8]; /* of the least offset of the rows that this lane gets a counter of */
        for (int k = 0; k < 8; k++)
            places[k] = __shfl_sync(0xffffffff, own, lane / 8 * 8 + k);
        for (int cell = warp * 8; cell < cells; cell += warps * 8) {
            int votes[8];
            for (int k = 0; k < 8; k++)
                votes[k] = cell + k < cells && counts ? counters[g * group + (cell + k) * LANES + lane] : 0;
            transpose(votes);
            for (int k = 0; k < 8; k++)
                if (votes[k] > 0)
                    atomicAdd(&to[places[k] + (unsigned)cell], votes[k]);
        }
    }
}

/* Writes the table: a counting sort by votes, then each line's rank among those with as many. A block has a share of
 * the table's rows. It computes the whole prefix sum, so that no block waits for another, and takes those numbers of
 * votes whose first line falls in its share. */
static __global__ void __launch_bounds__(SORTERS)
    rank_kernel(const __grid_constant__ struct lines_step step, struct image lines, float unit, float rho)
{
    extern __shared__ unsigned next[]; /* place most_votes - v: where the next line of v votes goes */
    __shared__ int low, high;          /* the block's places in `next`: low to high - 1 */
    __shared__ unsigned sums[SORTERS / 32];
    const int counters = step.most_votes + 1, stretch = (counters + SORTERS - 1) / SORTERS;
    const int from = min((int)threadIdx.x * stretch, counters), to = min(from + stretch, counters);
    wait_for_last();
    const unsigned count = *step.count, maximum = (unsigned)lines.height - 1;
    const unsigned begin = blockIdx.x * maximum / gridDim.x, end = (blockIdx.x + 1) * maximum / gridDim.x;
    unsigned sum = 0, total, first;
    int own_low = counters, own_high = counters;

    if (threadIdx.x == 0)
        low = high = counters;
    for (int i = threadIdx.x; i < counters; i += SORTERS)
        next[i] = step.votes[step.most_votes - i];
    __syncthreads();
    for (int i = from; i < to; i++)
        sum += next[i];
    sum = block_prefix_sum<SORTERS / 32>(sum, &total, sums);
    for (int i = from; i < to; i++) {
        const unsigned own = next[i];
        next[i] = sum;
        own_low = sum >= begin ? min(own_low, i) : own_low;
        own_high = sum >= end ? min(own_high, i) : own_high;
        sum += own;
    }
    own_low = __reduce_min_sync(0xffffffff, own_low);
    own_high = __reduce_min_sync(0xffffffff, own_high);
    if (threadIdx.x % 32 == 0) {
        atomicMin(&low, own_low);
        atomicMin(&high, own_high);
    }
    __syncthreads();
    first = low < counters ? next[low] : count;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += SORTERS * KEYS) {
        uint64_t keys[KEYS];
        for (unsigned k = 0; k < KEYS; k++)
            keys[k] = i + k * SORTERS < count ? step.keys[i + k * SORTERS] : 0;
        for (unsigned k = 0; k < KEYS; k++) {
            const int place = step.most_votes - (int)(keys[k] >> 32);
            if (keys[k] && place >= low && place < high)
                step.sorted[atomicAdd(&next[place], 1u)] = keys[k];
        }
    }
    __syncthreads();
    for (unsigned i = first + threadIdx.x; low < high && i < next[high - 1]; i += SORTERS) {
        const uint64_t key = step.sorted[i];
        const unsigned last = next[step.most_votes - (int)(key >> 32)];
        unsigned row = last - step.votes[key >> 32];
        for (unsigned k = row, stop = last; k < stop; k++)
            row += step.sorted[k] > key;
        if (row < maximum)
            hough_write_row(key, step.space, unit, rho, (float *)image_row(&lines, (int)row + 1));
    }
    for (unsigned row = begin + threadIdx.x; row < end; row += SORTERS)
        for (int column = 0; row >= count && column < HOUGH_COLUMNS; column++)
            ((float *)image_row(&lines, (int)row + 1))[column] = 0;
    if (blockIdx.x == 0 && threadIdx.x < HOUGH_COLUMNS)
        ((float *)lines.data)[threadIdx.x] = threadIdx.x == 0 ? (float)count : 0;
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(tiles_setup(&state->tiles, in, params));
    for (const auto kernel : {vote_kernel<true>, vote_kernel<false>})
        CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED));
    CUDA_TRY(cudaFuncSetAttribute(rank_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_RANKS));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->lines;
    struct image accumulator = lines_accumulator(lines, out);
    const int cells = (int)ceil((TILES_SIDE - 1) * 1.41421357 / params->rho) + 3; /* a diagonal, and rounding */
    dim3 grid(ceiling_divide(params->theta_steps, GROUPS * LANES), ceiling_divide(in->width, TILES_SIDE),
              ceiling_divide(in->height, TILES_SIDE));
    const size_t bytes = ((size_t)lines->most_votes + 1) * sizeof *lines->votes;
    const int blocks = min(ceiling_divide(lines->most_votes + 1, 32), device_blocks(16));
    const auto kernel = params->half_width == HOUGH_ALL_ROWS ? vote_kernel<true> : vote_kernel<false>;
    cudaLaunchAttribute early;
    const unsigned attributes = early_attributes(&early);
    const size_t counters = (size_t)GROUPS * cells * CELL_BYTES;
    cudaLaunchConfig_t vote = {grid, dim3(threads), counters, stream, &early, attributes};
    cudaLaunchConfig_t rank = {dim3(blocks), SORTERS, bytes, stream, &early, attributes};

    TRY(tiles_launch(&state->tiles, in, lines->directions, params, accumulator, stream));
    CUDA_TRY(cudaLaunchKernelEx(&vote, kernel, state->tiles, accumulator, cells, *lines, *params));
    TRY(lines_search(lines, out, params, stream));
    if (bytes > MOST_RANKS)
        return lines_end(lines, out, params, stream); /* three kernels */
    if (!lines->count)
        return STATUS_OK;
    CUDA_TRY(cudaLaunchKernelEx(&rank, rank_kernel, *lines, out[0], hough_step(params), (float)params->rho));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    tiles_teardown(&state->tiles);
}

RUNGS_CUDA_VERSION(hough, .tunables = tunables, .staged = true)
