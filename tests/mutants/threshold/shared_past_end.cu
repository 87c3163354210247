/*
 * Idea:     a block keeps its samples in shared memory, and each thread looks at its own and the next one.
 * Changed:  the last thread's next one lies behind the array. What stands there does not matter, mostly.
 * Expect:   out-of-bounds | sanitizer
 */
#include "common/algo/threshold.h"
#include "common/cuda/device.h"

struct state {
};

static __global__ void threshold_kernel(struct image in, struct image out, int value)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    __shared__ uint8_t samples[32 * 32];
    const int at = threadIdx.y * 32 + threadIdx.x;
    const bool inside = x < out.width * out.channels && y < out.height;

    samples[at] = inside ? ((const uint8_t *)image_row(&in, y))[x] : 0;
    __syncthreads();
    const int next = ((volatile uint8_t *)samples)[at + 1];
    if (inside)
        ((uint8_t *)image_row(&out, y))[x] = samples[at] > value && next >= 0 ? 255 : 0;
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
