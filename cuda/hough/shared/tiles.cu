#include "cuda/hough/shared/tiles.h"

enum { PART = TILES_PART, ROWS = 8, WARPS = PART * PART / (32 * ROWS) };

/* Which of the ROWS pixels from (x, y) down are edge points, a bit each. Of a row's three samples next to x there is a
 * difference and a sum, which the rows above and below use too. */
static __device__ unsigned find_points(const struct image &in, int x, int y, const struct hough_params &params)
{
    const int left = max(x - 1, 0), right = min(x + 1, in.width - 1), last = in.height - 1;
    int difference[3] = {0, 0, 0}, sum[3] = {0, 0, 0};
    unsigned found = 0;

    if (params.edges == HOUGH_NONZERO) {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (y + k <= last)
                found |= (unsigned)(((const uint8_t *)image_row(&in, y + k))[x] != 0) << k;
        return found;
    }
#pragma unroll
    for (int k = -1; k <= ROWS; k++) {
        const uint8_t *row = (const uint8_t *)image_row(&in, min(max(y + k, 0), last));
        difference[0] = difference[1];
        difference[1] = difference[2];
        difference[2] = row[right] - row[left];
        sum[0] = sum[1];
        sum[1] = sum[2];
        sum[2] = row[left] + 2 * row[x] + row[right];
        if (k > 0 && y + k - 1 <= last &&
            abs(difference[0] + 2 * difference[1] + difference[2]) + abs(sum[2] - sum[0]) > params.edge)
            found |= 1u << (k - 1);
    }
    return found;
}

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

/* A block makes the list of a part of a tile. A warp looks at 32 columns of ROWS pixels, reserves places in shared memory for
 * the points among them, and writes those, row by row. */
static __global__ void __launch_bounds__(WARPS * 32)
    tiles_kernel(struct image in, struct tiles_step step, const __grid_constant__ struct lines_step lines,
                 struct image accumulator, const __grid_constant__ struct hough_params params)
{
    __shared__ unsigned count;
    const int per = step.side / PART, tile = blockIdx.y / per * step.across + blockIdx.x / per;
    const int part = tile * step.parts + blockIdx.y % per * per + blockIdx.x % per;
    const int x = blockIdx.x * PART + threadIdx.y % (PART / 32) * 32 + threadIdx.x;
    const int y = blockIdx.y * PART + threadIdx.y / (PART / 32) * ROWS;
    const unsigned found = x < in.width && y < in.height ? find_points(in, x, y, params) : 0;
    unsigned votes[ROWS], total = 0, at = 0;

    if (threadIdx.x == 0 && threadIdx.y == 0)
        count = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        votes[k] = __ballot_sync(0xffffffff, found >> k & 1);
        total += (unsigned)__popc(votes[k]);
    }
    if (threadIdx.x == 0 && total > 0)
        at = atomicAdd(&count, total);
    at = __shfl_sync(0xffffffff, at, 0);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (found >> k & 1) {
            const size_t to = (size_t)part * (PART * PART) + at + __popc(votes[k] & ((1u << threadIdx.x) - 1));
            step.points[to] = make_float2((float)x, (float)(y + k));
            if (step.bins)
                step.bins[to] = (unsigned)hough_bin_for(lines.directions, &params, hough_sobel(&in, x, y + k));
        }
        at += (unsigned)__popc(votes[k]);
    }
    if (accumulator.data)
        clear(lines, accumulator);
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        step.counts[part] = count;
}

enum status tiles_setup(struct tiles_step *step, const struct image *in, const struct hough_params *params, int side,
                        int groups)
{
    size_t parts;
    enum status status = STATUS_OK;

    if (step->points)
        return STATUS_OK;
    step->groups = groups;
    for (;; side /= 2) {
        step->side = side;
        step->cells = (int)ceil((side - 1) * 1.41421357 / params->rho) + 3; /* and one for rounding at either end */
        if (side == PART || tiles_counter_bytes(step) <= TILES_MOST_SHARED)
            break;
    }
    step->across = (in->width + side - 1) / side;
    step->down = (in->height + side - 1) / side;
    step->parts = side / PART * (side / PART);
    parts = (size_t)step->across * (size_t)step->down * (size_t)step->parts;
    TRY(device_allocate((void **)&step->counts, parts * sizeof *step->counts));
    if (params->half_width != HOUGH_ALL_ROWS)
        TRY(device_allocate((void **)&step->bins, parts * (PART * PART) * sizeof *step->bins));
    TRY(device_allocate((void **)&step->points, parts * (PART * PART) * sizeof *step->points));
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
    const unsigned per = (unsigned)step->side / PART;
    const dim3 grid((unsigned)step->across * per, (unsigned)step->down * per);
    enum status status = STATUS_OK;

    tiles_kernel<<<grid, dim3(32, WARPS), 0, stream>>>(*in, *step, *lines, accumulator, *params);
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
