/*
 * Problem:  In cuda/v1.3 lanes take neighbouring points, which vote (add 1) in one bank and wait.
 * Idea:     One row per lane: a warp takes one point and votes in 32 rows, each in a bank of its
 *           own, so there is no bank conflict (shared/lanes.cuh). A block counts the votes of one
 *           tile. Thread coarsening: a point is loaded once for two rows per lane.
 * Expect:   Votes 3 times as fast: they take one cycle of the banks instead of 3 or 4.
 * Result:   1.8 times as fast as cuda/v1.3, 89 us (results/h100/hough/hough_1920x1080.json);
 *           votes alone are not measured.
 * Run:      make diff-hough A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/lanes.cuh"
#include "cuda/hough/shared/lines.h"
#include "cuda/hough/shared/tiles.h"

struct state {
    struct lines_step lines;
    struct tiles_step tiles;
};

enum { POINTS = 8 /* that a warp loads at a time */, MOST_SHARED = 227 << 10 };

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
    struct tiles_list list = tiles_list_of(tiles, blockIdx.z * gridDim.y + blockIdx.y);
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
    __syncthreads();
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

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(tiles_setup(&state->tiles, in, params));
    for (const auto kernel : {vote_kernel<true>, vote_kernel<false>})
        CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED));
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
    const auto kernel = params->half_width == HOUGH_ALL_ROWS ? vote_kernel<true> : vote_kernel<false>;

    TRY(tiles_launch(&state->tiles, in, lines->directions, params, accumulator, stream));
    kernel<<<grid, threads, (size_t)GROUPS * cells * CELL_BYTES, stream>>>(state->tiles, accumulator, cells, *lines,
                                                                           *params);
    CUDA_TRY(cudaGetLastError());
    TRY(lines_launch(lines, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    lines_teardown(&state->lines);
    tiles_teardown(&state->tiles);
}

RUNGS_CUDA_VERSION(hough, .tunables = tunables)
