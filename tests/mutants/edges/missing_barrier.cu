/*
 * Idea:     a block computes the magnitudes of its pixels and of the frame around them into shared memory (cuda/v1.2).
 * Changed:  no __syncthreads() between filling and using them.
 * Expect:   race | differs between runs
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"

struct state {
    int unused;
};

static __global__ void mark_kernel(struct image in, struct image mask,
                                   const __grid_constant__ struct edges_params params)
{
    __shared__ int16_t tile[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
        const int u = (int)(blockIdx.x * 32) + k % 34 - 1, v = (int)(blockIdx.y * 8) + k / 34 - 1;
        const bool inside = u >= 0 && v >= 0 && u < in.width && v < in.height;
        tile[k / 34][k % 34] = (int16_t)(inside ? edges_magnitude(hough_sobel(&in, u, v)) : 0);
    }
    if (x >= in.width || y >= in.height)
        return;
    const int16_t *row = &tile[threadIdx.y + 1][1];
    bool kept = row[threadIdx.x] > params.high;
    if (kept && params.thin == EDGES_CANNY)
        kept = edges_is_ridge(hough_sobel(&in, x, y), row - 34, row, row + 34, threadIdx.x);
    ((uint8_t *)image_row(&mask, y))[x] = kept ? 255 : 0;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 block(32, 8), grid(ceiling_divide(in->width, 32), ceiling_divide(in->height, 8));

    (void)state;
    mark_kernel<<<grid, block, 0, stream>>>(*in, out[0], *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct edges_params *params = (const struct edges_params *)params_erased;

    (void)in;
    return params->outputs != EDGES_MASK || params->high == EDGES_OTSU || params->low != EDGES_NO_LOW
               ? "the mask of one fixed threshold alone"
               : NULL;
}

RUNGS_CUDA_VERSION(edges, .declines = declines)
