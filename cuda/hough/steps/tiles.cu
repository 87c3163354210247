#include "cuda/hough/steps/tiles.h"

enum { WARPS = 32, ROUND = 8 /* pixels that a thread looks at before it writes */ };

/* Sets the accumulator and the counters of lines to 0: a block takes every gridDim-th row, or stretch of counters. */
static __device__ void clear(const struct lines_step &lines, const struct image &accumulator)
{
    const int block = blockIdx.y * gridDim.x + blockIdx.x, blocks = gridDim.x * gridDim.y;
    const int own = threadIdx.y * 32 + threadIdx.x;

    for (int n = block; n < accumulator.height; n += blocks)
        for (int r = own; r < accumulator.width; r += WARPS * 32)
            ((int *)image_row(&accumulator, n))[r] = 0;
    for (int i = block * WARPS * 32 + own; lines.count && i < lines.most_votes + 2; i += blocks * WARPS * 32)
        lines.count[i] = 0;
}

/* A block makes the list of a tile. A warp looks at ROUND times 32 pixels, reserves places in shared memory for the points
 * among them, and writes those. */
static __global__ void __launch_bounds__(WARPS * 32)
    tiles_kernel(struct image in, struct tiles_step step, const __grid_constant__ struct lines_step lines,
                 struct image accumulator, const __grid_constant__ struct hough_params params)
{
    __shared__ unsigned count;
    const int left = blockIdx.x * step.side, top = blockIdx.y * step.side, tile = blockIdx.y * gridDim.x + blockIdx.x;
    const size_t place = (size_t)tile * step.side * step.side;
    const int runs = step.side * step.side / 32, runs_across = step.side / 32; /* of 32 pixels */

    if (threadIdx.x == 0 && threadIdx.y == 0)
        count = 0;
    if (accumulator.data)
        clear(lines, accumulator);
    __syncthreads();
    for (int first = threadIdx.y; first < runs; first += WARPS * ROUND) {
        unsigned votes[ROUND], total = 0, at = 0;
#pragma unroll
        for (int k = 0; k < ROUND; k++) {
            const int run = first + k * WARPS;
            const int x = left + run % runs_across * 32 + threadIdx.x, y = top + run / runs_across;
            struct hough_gradient gradient = {0, 0};
            const bool found =
                run < runs && x < in.width && y < in.height && hough_is_point(&in, x, y, &params, &gradient);
            votes[k] = __ballot_sync(0xffffffff, found);
            total += (unsigned)__popc(votes[k]);
        }
        if (threadIdx.x == 0 && total > 0)
            at = atomicAdd(&count, total);
        at = __shfl_sync(0xffffffff, at, 0);
#pragma unroll
        for (int k = 0; k < ROUND; k++) {
            const int run = first + k * WARPS;
            const int x = left + run % runs_across * 32 + threadIdx.x, y = top + run / runs_across;
            const size_t to = place + at + (unsigned)__popc(votes[k] & ((1u << threadIdx.x) - 1));
            if (votes[k] >> threadIdx.x & 1) {
                step.points[to] = make_float2((float)x, (float)y);
                if (step.bins)
                    step.bins[to] =
                        (unsigned)hough_bin(lines.directions, params.theta_steps, hough_sobel(&in, x, y));
            }
            at += (unsigned)__popc(votes[k]);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        step.counts[tile] = count;
}

enum status tiles_setup(struct tiles_step *step, const struct image *in, const struct hough_params *params, int side)
{
    size_t tiles;
    enum status status = STATUS_OK;

    if (step->points)
        return STATUS_OK;
    for (;; side /= 2) {
        step->side = side;
        step->cells = (int)ceil((side - 1) * 1.41421357 / params->rho) + 3; /* and one for rounding at either end */
        if (side == 32 || tiles_counter_bytes(step) <= TILES_MOST_SHARED)
            break;
    }
    step->across = (in->width + side - 1) / side;
    step->down = (in->height + side - 1) / side;
    tiles = (size_t)step->across * (size_t)step->down;
    TRY(device_allocate((void **)&step->counts, tiles * sizeof *step->counts));
    if (params->half_width != HOUGH_ALL_ROWS)
        TRY(device_allocate((void **)&step->bins, tiles * (size_t)(side * side) * sizeof *step->bins));
    TRY(device_allocate((void **)&step->points, tiles * (size_t)(side * side) * sizeof *step->points));
out:
    return status;
}

enum status tiles_launch(struct tiles_step *step, const struct image *in, const struct lines_step *lines,
                         const struct hough_params *params, cudaStream_t stream)
{
    return tiles_launch_and_clear(step, in, lines, {}, params, stream);
}

enum status tiles_launch_and_clear(struct tiles_step *step, const struct image *in, const struct lines_step *lines,
                                   struct image accumulator, const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    tiles_kernel<<<dim3((unsigned)step->across, (unsigned)step->down), dim3(32, WARPS), 0, stream>>>(
        *in, *step, *lines, accumulator, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void tiles_teardown(struct tiles_step *step)
{
    device_free(step->counts);
    device_free(step->points);
    device_free(step->bins);
}
