/*
 * Problem:  In cuda/v1.1 only lanes with an edge point vote (add 1), by atomic operations in L2.
 * Idea:     Compaction lists edge points, so each lane has one (cuda/hough/shared/tiles.h).
 *           Privatization: a block counts one row's votes of half of the points in shared memory
 *           (7.7 KB) and adds them to global memory at the end, so votes do not go to L2.
 * Expect:   Kernel 4 times as fast as in cuda/v1.1: all lanes vote, up to 32 per cycle; 132
 *           multiprocessors run 2048 blocks of 128 threads at a time.
 * Result:   3.6 times as fast as cuda/v1.1, 631 us (results/h100/pclines/pclines_1920x1080.json).
 * Run:      make diff-pclines A=cuda/v1.1 B=cuda/v1.2
 */
#include "common/algo/pclines.h"
#include "common/cuda/device.h"
#include "cuda/hough/shared/tiles.h"
#include "cuda/pclines/shared/pclines.h"

struct state {
    struct pclines_step step;
    struct tiles_step tiles;
};

enum { SLICES = 2, THREADS = 128, MOST_SHARED = 227 << 10 };

/* Block (n, slice): the counters of row n, for the points of every gridDim.y-th tile. */
static __global__ void vote_kernel(struct image in, struct hough_space space, struct image accumulator, bool fits,
                                   const __grid_constant__ struct pclines_params params, struct tiles_step tiles)
{
    extern __shared__ int counters[];
    int n = blockIdx.x, *to = (int *)image_row(&accumulator, n);
    int *row = fits ? counters : to; /* wide rows do not fit in shared memory */

    for (int i = threadIdx.x; fits && i < space.cells; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int tile = blockIdx.y; tile < tiles.count; tile += gridDim.y) {
        struct tiles_list list = tiles_list_of(tiles, tile);
        for (int i = threadIdx.x; i < list.count; i += blockDim.x) {
            int x = (int)list.points[i].x - in.width / 2, y = (int)list.points[i].y - in.height / 2;
            if (pclines_votes_for(&params, list.bins ? (int)list.bins[i] : 0, n))
                atomicAdd(&row[space.centre + pclines_offset(x, y, n, &params)], 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; fits && i < space.cells; i += blockDim.x)
        if (counters[i] > 0)
            atomicAdd(&to[i], counters[i]);
}

static enum status setup(struct state *state, const struct image in[], const struct pclines_params *params)
{
    enum status status = STATUS_OK;

    TRY(pclines_setup(&state->step, in, params));
    TRY(tiles_setup(&state->tiles, in, &params->hough));
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
    size_t bytes = lines->space.cells * sizeof(int);
    bool fits = bytes <= MOST_SHARED;
    dim3 grid(lines->space.rows, min((int)device_blocks(SLICES), state->tiles.count));

    TRY(tiles_launch(&state->tiles, in, NULL, &params->hough, accumulator, stream));
    vote_kernel<<<grid, THREADS, fits ? bytes : 0, stream>>>(*in, lines->space, accumulator, fits, *params,
                                                             state->tiles);
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

RUNGS_CUDA_VERSION(pclines)
