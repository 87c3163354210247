/*
 * Idea:     every sixteenth row is stored in two steps, zeros first.
 * Changed:  by the neighbour, with nothing between its zero and the result.
 * Expect:   race
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
    uint8_t *to = (uint8_t *)image_row(&out, y);

    if (y % 16 == 15 && x + 1 < out.width * out.channels)
        to[x + 1] = 0;
    to[x] = ((const uint8_t *)image_row(&in, y))[x] > value ? 255 : 0;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct threshold_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width * out->channels, block.x), ceiling_divide(out->height, block.y));

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
