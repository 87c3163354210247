/*
 * Idea:     a block computes the products of its pixels and of their halo once, into shared memory.
 * Changed:  no __syncthreads() between filling and using them.
 * Expect:   race | differs between runs
 */
#include "common/cuda/device.h"
#include "tests/mutants/harris/mutant.h"

struct state {
    int unused;
};

static __global__ void harris_kernel(struct image in, struct image out, const struct harris_params params)
{
    extern __shared__ struct harris_sums tile[];
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int columns = blockDim.x + params.size - 1, rows = blockDim.y + params.size - 1, reach = params.size / 2;
    struct harris_sums sums = {0, 0, 0};

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < columns * rows; k += blockDim.x * blockDim.y)
        tile[k] = mutant_products(&in, x - (int)threadIdx.x + k % columns - reach,
                                  y - (int)threadIdx.y + k / columns - reach, &params);
    if (x >= out.width || y >= out.height)
        return;
    for (int k = 0; k < params.size * params.size; k++) {
        const int i = k % params.size, j = k / params.size, weight = params.taps[i] * params.taps[j];
        const struct harris_sums product = tile[(threadIdx.y + j) * columns + threadIdx.x + i];

        sums.a += weight * product.a;
        sums.b += weight * product.b;
        sums.c += weight * product.c;
    }
    ((float *)image_row(&out, y))[x] =
        harris_in_frame(&params, x, y, in.width, in.height) ? 0 : harris_response(&params, sums);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(16, 16), grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    const size_t shared = (block.x + params->size - 1) * (block.y + params->size - 1) * sizeof(struct harris_sums);

    (void)state;
    harris_kernel<<<grid, block, shared, stream>>>(*in, *out, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct harris_params *)params)->outputs == HARRIS_RESPONSE ? NULL : "the response alone";
}

RUNGS_CUDA_VERSION(harris, .declines = declines)
