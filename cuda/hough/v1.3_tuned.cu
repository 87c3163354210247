/*
 * Problem:  cuda/v1.2 fixes two numbers unmeasured: 4 slices (shares of the tiles) and 256 threads
 *           per block.
 * Idea:     Time all pairs of both: more slices balance the load better, but add more counters to
 *           global memory; more threads hide the latency of votes, but idle in tiles of few points.
 * Expect:   1.1 times as fast as cuda/v1.2, with 8 slices of 128 threads.
 * Result:   1.00 times as fast as cuda/v1.2: the default stayed 4 slices, 256 threads
 *           (results/h100/hough/hough_1920x1080.json).
 * Run:      make tune-hough V=cuda/v1.3
 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/lines.h"
#include "cuda/hough/shared/tiles.h"

struct state {
    struct lines_step lines;
    struct tiles_step tiles;
};

enum { MOST_SHARED = 227 << 10 };

static int slices = 4, threads = 256;
static const int slice_counts[] = {1, 2, 4, 6, 8, 12, 16, 24, 0}, thread_counts[] = {64, 128, 256, 512, 1024, 0};
static struct tunable tunables[] = {{"slices", &slices, slice_counts, "shares of the tiles"},
                                    {"threads", &threads, thread_counts, "threads of a block"},
                                    {}};

/* Block (n, slice): the counters of row n, for the points of every gridDim.y-th tile. */
static __global__ void vote_kernel(struct tiles_step tiles, struct image accumulator, bool fits,
                                   const __grid_constant__ struct lines_step step,
                                   const __grid_constant__ struct hough_params params)
{
    extern __shared__ int counters[];
    int n = blockIdx.x, reach = step.space.reach;
    int *to = (int *)image_row(&accumulator, n) + step.space.centre;
    int *row = fits ? counters + reach : to; /* where offset 0 is; wide rows do not fit in shared memory */
    struct hough_angle angle = step.angles[n];

    for (int i = threadIdx.x; fits && i <= 2 * reach; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int tile = blockIdx.y; tile < tiles.count; tile += gridDim.y) {
        struct tiles_list list = tiles_list_of(tiles, tile);
        for (int i = threadIdx.x; i < list.count; i += blockDim.x)
            if (hough_votes_for(&params, list.bins ? list.bins[i] : 0, n))
                atomicAdd(&row[hough_offset((int)list.points[i].x, (int)list.points[i].y, angle)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x - reach; fits && i <= reach; i += blockDim.x)
        if (row[i] > 0)
            atomicAdd(&to[i], row[i]);
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;

    TRY(lines_setup(&state->lines, in, params));
    TRY(tiles_setup(&state->tiles, in, params));
    CUDA_TRY(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct lines_step *lines = &state->lines;
    struct image accumulator = lines_accumulator(lines, out);
    size_t bytes = (2 * (size_t)lines->space.reach + 1) * sizeof(int);
    bool fits = bytes <= MOST_SHARED;
    dim3 grid(params->theta_steps, min((int)device_blocks(slices), state->tiles.count));

    TRY(tiles_launch(&state->tiles, in, lines->directions, params, accumulator, stream));
    vote_kernel<<<grid, threads, fits ? bytes : 0, stream>>>(state->tiles, accumulator, fits, *lines, *params);
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
