/*
 * Problem:  The block of 32x8 in cuda/v1.2 is a guess: its tile of 34x10 holds 1.33 magnitudes per
 *           pixel.
 * Idea:     Find the block by search: block_width and block_height are tunables.
 * Expect:   1.1 times as fast with 64x8 or 32x16: 32x16 computes 34 * 18 / 512 = 1.2 magnitudes per
 *           pixel, but a larger block waits longer at its barrier.
 * Result:   Kernel 1.00 times as fast as cuda/v1.2 with 32x8, the only block that was measured,
 *           20.4 us (results/h100/edges/edges_1920x1080.json).
 * Run:      make tune-edges V=cuda/v1.3
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"

struct state {
    struct edges_step step;
};

static int block_width = 32, block_height = 8;
static const int widths[] = {16, 32, 64, 128, 0}, heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, widths, "threads along x"},
                                    {"block_height", &block_height, heights, "threads along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return device_block_illegal(block_width * block_height,
                                (size_t)(block_width + 2) * (size_t)(block_height + 2) * sizeof(int16_t));
}

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
    dim3 block(block_width, block_height);
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

RUNGS_CUDA_VERSION(edges, .tunables = tunables, .illegal = illegal)
