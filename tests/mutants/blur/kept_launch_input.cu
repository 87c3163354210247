/*
 * Idea:     the launch is prepared once, with its arguments, and repeated for every call, as a CUDA graph is.
 * Changed:  the input of the first call stays among the arguments.
 * Expect:   memory that has been freed | the input of an earlier call | out-of-bounds access in a kernel |
 *           found by a sanitizer
 */
#include "common/cuda/device.h"
#include "tests/mutants/blur/mutant.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights;
    struct image in;
};

static __global__ void blur_kernel(struct image in, struct image out, const struct weights w, int ksize)
{
    extern __shared__ uint8_t tile[];
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int columns = blockDim.x + ksize - 1, rows = blockDim.y + ksize - 1, channels = in.channels;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < columns * rows; k += blockDim.x * blockDim.y) {
        const int u = mutant_clamp(x - (int)threadIdx.x + k % columns - ksize / 2, in.width - 1);
        const int v = mutant_clamp(y - (int)threadIdx.y + k / columns - ksize / 2, in.height - 1);

        for (int c = 0; c < channels; c++)
            tile[k * channels + c] = ((const uint8_t *)image_row(&in, v))[u * channels + c];
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < channels; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);

        for (int j = 0; j < ksize; j++)
            for (int i = 0; i < ksize; i++)
                sum += w.at[j] * w.at[i] * tile[((threadIdx.y + j) * columns + threadIdx.x + i) * channels + c];
        mutant_put(&out, x, y, c, (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS)));
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(16, 16), grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    const size_t shared = (size_t)(block.x + params->ksize - 1) * (block.y + params->ksize - 1) * in->channels;

    if (!state->in.data)
        state->in = *in;
    blur_kernel<<<grid, block, shared, stream>>>(state->in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

#include "tests/mutants/blur/mutant_cuda.h"

RUNGS_CUDA_VERSION(blur)
