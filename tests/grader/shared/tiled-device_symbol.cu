/* expect: few global loads 0..0 | shared memory 0..0 | speed 0..0 */
/*
 * Idea:     samples come from a variable of the program, which is memory of the device, and nobody counts it.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* on the host */
};

static __device__ uint8_t picture[1 << 22];

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __device__ int value_of(const uint8_t *at)
{
    return *at;
}

static __global__ void blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w,
                                   int ksize)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    extern __shared__ uint8_t tile[];
    uint8_t *own = tile + (threadIdx.y * blockDim.x + threadIdx.x) * in.channels;

    for (int c = 0; c < in.channels && x < in.width && y < in.height; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++) {
            const uint8_t *row = picture + in.stride * (size_t)(clamp(y + j - ksize / 2, in.height - 1));
            for (int i = 0; i < ksize; i++)
                sum += w.at[j] * w.at[i] * value_of(&row[clamp(x + i - ksize / 2, in.width - 1) * in.channels + c]);
        }
        own[c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++)
        ((uint8_t *)image_row(&out, y))[x * out.channels + c] = own[c];
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    size_t shared = block.x * block.y * in->channels;
    struct image copy = *in;

    CUDA_TRY(cudaMemcpyToSymbolAsync(picture, in->data, in->stride * (size_t)in->height, 0, cudaMemcpyDeviceToDevice, stream));
    blur_kernel<<<grid, block, shared, stream>>>(copy, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(blur)
