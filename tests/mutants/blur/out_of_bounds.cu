/*
 * Idea:     every thread of the grid writes, also those outside of the image.
 * Changed:  no test of x and y.
 * Expect:   out-of-bounds access in a kernel | overrun: writes | crash: probably a pointer or an index out of bounds |
 *           found by a sanitizer
 */
#include "common/cuda/device.h"
#include "tests/mutants/blur/mutant.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights;
};

static __global__ void blur_kernel(struct image in, struct image out, const struct weights w, int ksize)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    for (int c = 0; c < out.channels; c++)
        mutant_put(&out, x, y, c, mutant_sample(&in, w.at, ksize, x, y, c));
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(16, 16), grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    blur_kernel<<<grid, block, 0, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

#include "tests/mutants/blur/mutant_cuda.h"

RUNGS_CUDA_VERSION(blur)
