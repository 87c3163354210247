/*
 * Problem:  In cuda/v1.3 a vote loads a point and multiplies; neighbours wait for one counter.
 * Idea:     As in hough, a warp takes one point, and each lane votes (adds 1) in its own rows: none
 *           waits. Thread coarsening: a lane has four rows, 32 apart, and from one to the next the
 *           sum before the shift changes by 32 (y + x) or 32 (y - x), without a product.
 * Expect:   2 times as fast as cuda/v1.3: a vote takes 4 instructions instead of 9 and a load.
 * Result:   Kernel 7.4 times as fast as cuda/v1.1 (cuda/v1.3 not timed there,
 *           results/h200/pclines/pclines_1920x1080_groups.json).
 * Run:      make diff-pclines A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/tiles.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct tiles_step tiles;
};

enum {
    MOST_SHARED = 227 << 10,
    LANES = 32,
    MOST_GROUPS = 4,       /* of LANES rows, for which a point is loaded once */
    CELLS = 2 * TILES_SIDE /* of a row for 2 x 2 tiles: X (d - |u|) + Y u grows by d a pixel at most */
};

static int threads = 512;
static const int thread_counts[] = {64, 128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"threads", &threads, thread_counts, "threads of a block"}, {}};

/* 2^shift times the place of a point's vote in row n, and half a cell. The next row has y + x more for u < 0, y - x
 * from u = 0 on. */
static __device__ int first_place(int x, int y, int n, const struct pclines_params &params)
{
    const int u = n - params.d + 1;

    return x * (params.d - abs(u)) + y * u + params.d / 2;
}

/* The least cell from the centre in row n, that of the upper left or the lower left corner of the block's pixels. */
static __device__ int least_offset(const struct image &in, int n, const struct pclines_params &params)
{
    const int x = blockIdx.y * CELLS, y = blockIdx.z * CELLS + (n < params.d ? CELLS - 1 : 0);

    return first_place(x - in.width / 2, y - in.height / 2, n, params) >> params.shift;
}

/* A block counts what the points of 2 x 2 tiles vote for in GROUPS * LANES rows of CELLS cells. A warp takes a
 * point; a lane votes for rows first + g * LANES + lane and has a bank to itself. All rows of several groups are of
 * one space. */
template <int GROUPS>
static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator,
                                   const __grid_constant__ struct pclines_params params, struct tiles_step tiles)
{
    extern __shared__ int counters[];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int across = (in.width + TILES_SIDE - 1) / TILES_SIDE, down = tiles.count / across;
    const int first = blockIdx.x * GROUPS * LANES, n = first + lane, group = CELLS * LANES;
    const int sign = first < params.d ? 1 : -1;
    int zero[GROUPS]; /* where the counter of place 0 would be */

#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        zero[g] = g * group + lane - least_offset(in, n + g * LANES, params) * LANES;
    for (int i = threadIdx.x; i < GROUPS * group; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int part = 0; part < 4; part++) {
        const int column = 2 * blockIdx.y + part % 2, line = 2 * blockIdx.z + part / 2;
        if (column >= across || line >= down)
            continue;
        const struct tiles_list list = tiles_list_of(tiles, line * across + column);
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
    for (int i = threadIdx.x; i < GROUPS * group; i += blockDim.x) {
        const int cell = i / (8 * LANES) % (CELLS / 8) * 8 + i % 8;
        const int row = i / (8 * LANES) / (CELLS / 8) * LANES + i / 8 % LANES;
        const int votes = counters[row / LANES * group + cell * LANES + row % LANES];
        if (votes > 0)
            atomicAdd((int *)image_row(&accumulator, first + row) + space.centre + cell +
                          least_offset(in, first + row, params),
                      votes);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(tiles_setup(&state->tiles, in, &params->hough));
    for (const auto kernel : {vote_kernel<1>, vote_kernel<2>, vote_kernel<MOST_GROUPS>})
        CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->step.lines;
    struct image accumulator = lines_accumulator(lines, out);
    const int groups = params->d < 64 ? 1 : params->d < 128 ? 2 : (int)MOST_GROUPS;
    const auto kernel = groups == 1 ? vote_kernel<1> : groups == 2 ? vote_kernel<2> : vote_kernel<MOST_GROUPS>;
    size_t bytes = groups * LANES * CELLS * sizeof(int);
    dim3 grid(lines->space.rows / (groups * LANES), ceiling_divide(in->width, CELLS),
              ceiling_divide(in->height, CELLS));

    TRY(tiles_launch(&state->tiles, in, NULL, &params->hough, accumulator, stream));
    kernel<<<grid, threads, bytes, stream>>>(*in, lines->space, accumulator, *params, state->tiles);
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
