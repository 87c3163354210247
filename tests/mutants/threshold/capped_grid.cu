/*
 * Idea:     a grid of at most 64 blocks below each other, enough for a full screen.
 * Changed:  a block does not go on with the rows that are left: those from 2048 on are never written.
 * Expect:   y >= 2048 | never written
 * Option:   --thorough
 */
#include "common/algo/threshold.h"
#include "common/cuda/device.h"

struct state {
};

static __global__ void threshold_kernel(struct image in, struct image out, int value)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width * out.channels || y >= out.height)
        return;
    ((uint8_t *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[x] > value ? 255 : 0;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct threshold_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width * out->channels, block.x), ceiling_divide(out->height, block.y));

    if (grid.y > 64)
        grid.y = 64;
    (void)state;
    threshold_kernel<<<grid, block, 0, stream>>>(*in, *out, params->value);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct threshold_params *)params)->value == THRESHOLD_OTSU ? "takes fixed values" : NULL;
}

RUNGS_CUDA_VERSION(threshold, .declines = declines)
