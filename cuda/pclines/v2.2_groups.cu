/*
 * Idea:     a point is loaded once for 128 rows, for the load takes the path that atomics take as well (cuda/v2.8 of hough).
 *           From one group of 32 rows to the next a vote moves by 32 (y + x) or 32 (y - x): v2.0's sums again.
 * Changed:  a lane counts for up to four rows, 32 apart; the template argument GROUPS.
 * Expect:   votes in two thirds of v2.1's time: a vote was a cycle of loading and two of its atomic. Counters of 64 KB leave
 *           room for 3 blocks of 512 threads.
 * Result:   301 us for all, 1.24 times v2.1 (results/h200/pclines/pclines_1920x1080_groups.json).
 */
/* Try: make bench-pclines VERSIONS=cuda/v2.1,cuda/v2.2
 *      make tune-pclines V=cuda/v2.2 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/tiles.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct tiles_step tiles;
};

enum { LANES = TILES_LANES, MOST_GROUPS = 4 /* of LANES rows, for which a point is loaded once */ };

static int side = 128, threads = 512;
static const int sides[] = {64, 128, 256, 0}, thread_counts[] = {128, 256, 512, 1024, 0};
static struct tunable tunables[] = {
    {"side", &side, sides, "of a tile, in pixels"}, {"threads", &threads, thread_counts, "threads of a block"}, {}};

/* 2^shift times the place between two cells where a point's vote in row n lies, and half a cell. */
static __device__ int first_place(int x, int y, int n, const struct pclines_params &params)
{
    const int u = n - params.d + 1;

    return x * (params.d - abs(u)) + y * u + params.d / 2;
}

/* The first cell from the centre that a point of the block's tile can vote for in row n: that of its upper or lower left corner. */
static __device__ int least_offset(const struct tiles_step &tiles, const struct image &in, int n,
                                   const struct pclines_params &params)
{
    const int x = blockIdx.y * tiles.side, y = blockIdx.z * tiles.side + (n < params.d ? tiles.side - 1 : 0);

    return first_place(x - in.width / 2, y - in.height / 2, n, params) >> params.shift;
}

/* A lane's row is first + g * LANES + lane. With as few groups as there are in one space, u has one sign in all of them. */
template <int GROUPS>
static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params, struct tiles_step tiles)
{
    extern __shared__ int counters[];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int first = blockIdx.x * GROUPS * LANES, n = first + lane, group = tiles.cells * LANES;
    const int sign = first < params.d ? 1 : -1;
    int zero[GROUPS]; /* where the counter of place 0 would be */

#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        zero[g] = g * group + lane - least_offset(tiles, in, n + g * LANES, params) * LANES;
    for (int i = threadIdx.x; i < GROUPS * group; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int part = 0; part < tiles.parts; part++) {
        const struct tiles_list list = tiles_own_list(tiles, part);
        for (int i = warp; i < list.count; i += warps) {
            const int x = (int)list.points[i].x - in.width / 2, y = (int)list.points[i].y - in.height / 2;
            int place = first_place(x, y, n, params);
#pragma unroll
            for (int g = 0; g < GROUPS; g++, place += LANES * (y + sign * x))
                if (!list.bins || pclines_votes_for(&params, (int)list.bins[i], n + g * LANES))
                    atomicAdd(&counters[zero[g] + (place >> params.shift) * LANES], 1);
        }
    }
    __syncthreads();
    /* 32 lanes add 8 cells of 4 rows at a time, which are neighbours in global memory. */
    for (int i = threadIdx.x; i < GROUPS * LANES * tiles.cells; i += blockDim.x) {
        const int cell = i / (8 * LANES) % (tiles.cells / 8) * 8 + i % 8;
        const int row = i / (8 * LANES) / (tiles.cells / 8) * LANES + i / 8 % LANES;
        const int votes = counters[row / LANES * group + cell * LANES + row % LANES];
        if (votes > 0)
            atomicAdd((int *)image_row(&accumulator, first + row) + space.centre + cell +
                          least_offset(tiles, in, first + row, params),
                      votes);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(pclines_tiles_setup(&state->tiles, in, params, side, MOST_GROUPS));
    for (const auto kernel : {vote_kernel<1>, vote_kernel<2>, vote_kernel<MOST_GROUPS>})
        CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    const int groups = state->tiles.groups;
    const auto kernel = groups == 1 ? vote_kernel<1> : groups == 2 ? vote_kernel<2> : vote_kernel<MOST_GROUPS>;

    TRY(tiles_launch(&state->tiles, in, lines, &params->hough, stream));
    TRY(lines_clear(lines, out, stream));
    kernel<<<tiles_grid(&state->tiles, &params->hough), threads, tiles_counter_bytes(&state->tiles), stream>>>(
        *in, lines->space, lines_accumulator(lines, out), *params, state->tiles);
    CUDA_TRY(cudaGetLastError());
    TRY(pclines_launch(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    pclines_teardown(&state->step);
    tiles_teardown(&state->tiles);
}

RUNGS_CUDA_VERSION(pclines, .tunables = tunables)
