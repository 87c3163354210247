/*
 * Idea:     as many blocks as fit into the image, and none for the rest.
 * Changed:  the grid is rounded down.
 * Expect:   only the last
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

    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++)
        mutant_put(&out, x, y, c, mutant_sample(&in, w.at, ksize, x, y, c));
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(16, 16), grid(out->width < 16 ? 1 : out->width / 16, ceiling_divide(out->height, block.y));

    blur_kernel<<<grid, block, 0, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

#include "tests/mutants/blur/mutant_cuda.h"

RUNGS_CUDA_VERSION(blur)
