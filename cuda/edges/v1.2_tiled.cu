/*
 * Problem:  cuda/v1.1 writes 2 bytes of magnitude per pixel to global memory and reads them again.
 * Idea:     Kernel fusion: a block computes the magnitudes of its tile and halo into shared memory,
 *           then marks its pixels from there.
 * Expect:   Kernel 1.5 times as fast: one of two launches and the traffic go, but a tile of 34x10
 *           for 32x8 pixels computes 1.33 magnitudes per pixel.
 * Result:   Kernel 0.80 times as fast as cuda/v1.1, 20.4 us
 *           (results/h100/edges/edges_1920x1080.json), probably because its magnitudes stay in L2.
 * Run:      make diff-edges A=cuda/v1.1 B=cuda/v1.2
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"

struct state {
    struct edges_step step;
};

static __global__ void mark_kernel(struct image in, struct image mask, const struct edges_thresholds *thresholds,
                                   bool thin)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    extern __shared__ int16_t tile[];
    int tile_width = blockDim.x + 2, tile_height = blockDim.y + 2;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < tile_width * tile_height; k += blockDim.x * blockDim.y) {
        int u = x - (int)threadIdx.x + k % tile_width - 1, v = y - (int)threadIdx.y + k / tile_width - 1;
        tile[k] = u >= 0 && v >= 0 && u < in.width && v < in.height ? edges_magnitude(hough_sobel(&in, u, v)) : 0;
    }
    __syncthreads();
    if (x >= in.width || y >= in.height)
        return;
    const int16_t *row = tile + (threadIdx.y + 1) * tile_width + 1, *above = row - tile_width,
                  *below = row + tile_width;
    int own = row[threadIdx.x];
    bool kept = own > thresholds->weak;
    if (kept && thin)
        kept = edges_is_ridge(hough_sobel(&in, x, y), above, row, below, threadIdx.x);
    ((uint8_t *)image_row(&mask, y))[x] = !kept ? EDGES_NOTHING : own > thresholds->strong ? EDGES_STRONG : EDGES_WEAK;
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    return edges_setup(&state->step, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    TRY(edges_begin(&state->step, in, params, stream));
    mark_kernel<<<grid, block, (block.x + 2) * (block.y + 2) * sizeof(int16_t), stream>>>(
        *in, mask, state->step.thresholds, params->thin == EDGES_CANNY);
    CUDA_TRY(cudaGetLastError());
    TRY(edges_end(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
}

RUNGS_CUDA_VERSION(edges)
