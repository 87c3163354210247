#include "common/cuda/mean_step.h"

static __global__ void start_kernel(struct image mean, struct image blurred)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < mean.width && y < mean.height)
        ((uint16_t *)image_row(&mean, y))[x] = (uint16_t)(((const uint8_t *)image_row(&blurred, y))[x] << 8);
}

static __global__ void background_kernel(struct image mean, struct image background)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < mean.width && y < mean.height)
        ((uint8_t *)image_row(&background, y))[x] = (uint8_t)((((const uint16_t *)image_row(&mean, y))[x] + 128) >> 8);
}

static __global__ void update_kernel(struct image mean, struct image blurred, int rate)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= mean.width || y >= mean.height)
        return;
    uint16_t *m = (uint16_t *)image_row(&mean, y) + x;
    *m = (uint16_t)(*m + (((((const uint8_t *)image_row(&blurred, y))[x] << 8) - *m) >> rate));
}

static const dim3 block(32, 8);

static dim3 grid_for(const struct image *image)
{
    return dim3(ceiling_divide(image->width, block.x), ceiling_divide(image->height, block.y));
}

enum status mean_step_start(struct image *mean, const struct image *blurred, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 grid = grid_for(mean);

    start_kernel<<<grid, block, 0, stream>>>(*mean, *blurred);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status mean_step_background(const struct image *mean, struct image *background, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 grid = grid_for(mean);

    background_kernel<<<grid, block, 0, stream>>>(*mean, *background);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status mean_step_update(struct image *mean, const struct image *blurred, int rate, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 grid = grid_for(mean);

    update_kernel<<<grid, block, 0, stream>>>(*mean, *blurred, rate);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
