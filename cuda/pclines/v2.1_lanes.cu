/*
 * Idea:     a lane a row, as in cuda/v2.4 of hough: a warp takes a point, and each lane votes for another row. Counters lie in
 *           shared memory as cells of 32 lanes, so that every lane has a bank to itself and no two votes of a warp meet.
 * Changed:  rows that are wide enough for a picture do not fit 32 times, those of a tile do, which has as many cells as pixels
 *           a side. Points are listed by tile (cuda/hough/shared/tiles.cu).
 * Expect:   votes in half of v2.0's time: 230 million for 225,000 points are 62 us at two cycles for 32, and half as much for the
 *           load of a point by a whole warp, where in v2.0 the votes of pixels along an edge meet in one counter.
 * Result:   missed: 372 us for all, 1.06 times v2.0 (results/h200/pclines/pclines_1920x1080_groups.json).
 */
/* Try: make bench-pclines VERSIONS=cuda/v2.0,cuda/v2.1
 *      make tune-pclines V=cuda/v2.1 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/tiles.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct tiles_step tiles;
};

enum { LANES = TILES_LANES };

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

static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params, struct tiles_step tiles)
{
    extern __shared__ int counters[];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int first = blockIdx.x * LANES, n = first + lane;
    const int zero = lane - least_offset(tiles, in, n, params) * LANES; /* where the counter of place 0 would be */

    for (int i = threadIdx.x; i < LANES * tiles.cells; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int part = 0; part < tiles.parts; part++) {
        const struct tiles_list list = tiles_own_list(tiles, part);
        for (int i = warp; i < list.count; i += warps) {
            const int x = (int)list.points[i].x - in.width / 2, y = (int)list.points[i].y - in.height / 2;
            if (!list.bins || pclines_votes_for(&params, (int)list.bins[i], n))
                atomicAdd(&counters[zero + (first_place(x, y, n, params) >> params.shift) * LANES], 1);
        }
    }
    __syncthreads();
    /* 32 lanes add 8 cells of 4 rows at a time, which are neighbours in global memory. */
    for (int i = threadIdx.x; i < LANES * tiles.cells; i += blockDim.x) {
        const int cell = i / (8 * LANES) * 8 + i % 8, row = i / 8 % LANES, votes = counters[cell * LANES + row];
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
    TRY(pclines_tiles_setup(&state->tiles, in, params, side, 1));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES_MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;

    TRY(tiles_launch(&state->tiles, in, lines, &params->hough, stream));
    TRY(lines_clear(lines, out, stream));
    vote_kernel<<<tiles_grid(&state->tiles, &params->hough), threads, tiles_counter_bytes(&state->tiles), stream>>>(
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
