/*
 * Idea:     a grid that rounds down has no block for the last rows.
 * Changed:  the height is divided by the block's without the remainder.
 * Expect:   never written: only the last
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
};

static __global__ void grayscale_kernel(struct image in, struct image out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)((GRAYSCALE_RED * rgb[0] + GRAYSCALE_GREEN * rgb[1] +
                                                    GRAYSCALE_BLUE * rgb[2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                                   GRAYSCALE_BITS);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(32, 8), grid(ceiling_divide(out->width, block.x), out->height / block.y);

    (void)state, (void)params;
    if (grid.y > 0)
        grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(grayscale)
