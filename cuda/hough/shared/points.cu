#include "cuda/hough/shared/points.h"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8, ROWS = 8 /* of pixels that a thread of blocks_kernel looks at */ };

enum status points_setup(struct points_step *step, const struct image *in)
{
    const size_t pixels = (size_t)in->width * (size_t)in->height;
    enum status status = STATUS_OK;

    if (!step->count)
        TRY(device_allocate((void **)&step->count, sizeof *step->count));
    if (!step->items)
        TRY(device_allocate((void **)&step->items, pixels * sizeof *step->items));
out:
    return status;
}

void points_teardown(struct points_step *step)
{
    device_free(step->count);
    device_free(step->items);
}

/* A warp looks at 32 pixels; its points go to places that one atomic operation reserves for all of them. */
static __global__ void points_kernel(struct image in, struct points_step step, const struct hough_direction *directions,
                                     const __grid_constant__ struct hough_params params)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    struct hough_gradient gradient = {0, 0};
    const bool found = x < in.width && y < in.height && hough_is_point(&in, x, y, &params, &gradient);
    const unsigned votes = __ballot_sync(0xffffffff, found);
    unsigned at = 0;

    if (threadIdx.x == 0 && votes != 0)
        at = atomicAdd(step.count, (unsigned)__popc(votes));
    at = __shfl_sync(0xffffffff, at, 0) + (unsigned)__popc(votes & ((1u << threadIdx.x) - 1));
    if (found) {
        step.items[at].place = (unsigned)y << 16 | (unsigned)x;
        step.items[at].bin =
            params.half_width == HOUGH_ALL_ROWS ? 0 : (unsigned)hough_bin_for(directions, &params, gradient);
    }
}

enum status points_launch(struct points_step *step, const struct image *in, const struct hough_direction *directions,
                          const struct hough_params *params, cudaStream_t stream)
{
    const dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT);
    const dim3 grid(ceiling_divide(in->width, BLOCK_WIDTH), ceiling_divide(in->height, BLOCK_HEIGHT));
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(step->count, 0, sizeof *step->count, stream));
    points_kernel<<<grid, block, 0, stream>>>(*in, *step, directions, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

/* The threads of a block reserve places in shared memory, and one of them for all in the list. */
static __global__ void blocks_kernel(struct image in, struct points_step step, const struct hough_direction *directions,
                                     const __grid_constant__ struct hough_params params)
{
    __shared__ unsigned total, begin;
    const int x = blockIdx.x * BLOCK_WIDTH + threadIdx.x, first = blockIdx.y * BLOCK_HEIGHT * ROWS + threadIdx.y;
    const bool leads = threadIdx.x == 0 && threadIdx.y == 0;
    struct hough_gradient gradient = {0, 0};
    unsigned found = 0, at = 0;

    if (leads)
        total = 0;
    for (int k = 0; k < ROWS; k++) {
        const int y = first + k * BLOCK_HEIGHT;
        if (x < in.width && y < in.height && hough_is_point(&in, x, y, &params, &gradient))
            found |= 1u << k;
    }
    __syncthreads();
    if (found)
        at = atomicAdd(&total, (unsigned)__popc(found));
    __syncthreads();
    if (leads)
        begin = total ? atomicAdd(step.count, total) : 0;
    __syncthreads();
    for (at += begin; found; found &= found - 1, at++) {
        const int y = first + (__ffs((int)found) - 1) * BLOCK_HEIGHT;
        unsigned bin = 0;
        if (params.half_width != HOUGH_ALL_ROWS)
            bin = (unsigned)hough_bin_for(directions, &params, hough_sobel(&in, x, y));
        step.items[at] = {(unsigned)y << 16 | (unsigned)x, bin};
    }
}

enum status points_launch_blocks(struct points_step *step, const struct image *in,
                                 const struct hough_direction *directions, const struct hough_params *params,
                                 cudaStream_t stream)
{
    const dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT);
    const dim3 grid(ceiling_divide(in->width, BLOCK_WIDTH), ceiling_divide(in->height, BLOCK_HEIGHT * ROWS));
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(step->count, 0, sizeof *step->count, stream));
    blocks_kernel<<<grid, block, 0, stream>>>(*in, *step, directions, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
