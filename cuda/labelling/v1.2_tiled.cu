/*
 * Problem:  In cuda/v1.1 each step of a walk to a root is a load from global memory, 300 cycles.
 * Idea:     A block first builds the trees of its tile (32x32 pixels) in shared memory: 30 cycles a
 *           step. Only pixels with a neighbour in another tile still unite in global memory.
 * Expect:   Kernels 2 times as fast as cuda/v1.1: 1 pixel in 10 has a neighbour outside its tile.
 * Result:   2.8 times as fast as cuda/v1.1, 1979 us
 *           (results/h100/labelling/labelling_3840x2160.json), with relaxed atomic loads; with
 *           plain loads 0.7 times (results/h200/labelling/labelling_3840x2160.json).
 * Run:      make diff-labelling A=cuda/v1.1 B=cuda/v1.2
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/pixels.cuh"
#include "cuda/labelling/shared/trees.cuh"

struct state {
    int *parent; /* device: of each pixel, by raster index; that of a root is itself */
};

/* Whether the neighbour lies in the block's own tile. */
static __device__ bool in_tile(int dx, int dy)
{
    return threadIdx.x + dx < blockDim.x && threadIdx.y + dy < blockDim.y; /* -1 wraps around to 2^32 - 1 */
}

static __global__ void init_kernel(struct image in, int *parent, int connectivity)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1}; /* connectivity 4 takes the first two */
    extern __shared__ int tile[];                              /* parents by the thread's number */
    int own = threadIdx.y * blockDim.x + threadIdx.x;

    tile[own] = own;
    __syncthreads();
    for (int k = 0; k < connectivity / 2; k++)
        if (y < in.height && in_tile(dx[k], dy[k]) && is_foreground(in, x, y) &&
            is_foreground(in, x + dx[k], y + dy[k]))
            unite(tile, own, own + dy[k] * (int)blockDim.x + dx[k]);
    __syncthreads();
    int root = find(tile, own), left = x - threadIdx.x, top = y - threadIdx.y;
    if (x < in.width && y < in.height)
        parent[y * in.width + x] = (top + root / (int)blockDim.x) * in.width + left + root % (int)blockDim.x;
}

static __global__ void merge_kernel(struct image in, int *parent, int connectivity)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1}; /* connectivity 4 takes the first two */

    if (y >= in.height || !is_foreground(in, x, y))
        return;
    for (int k = 0; k < connectivity / 2; k++)
        if (!in_tile(dx[k], dy[k]) && is_foreground(in, x + dx[k], y + dy[k]))
            unite(parent, y * in.width + x, (y + dy[k]) * in.width + x + dx[k]);
}

static __global__ void compress_kernel(struct image in, struct image out, const int *parent)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((int *)image_row(&out, y))[x] = is_foreground(in, x, y) ? root_of(parent, y * in.width + x) + 1 : 0;
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    size_t shared = block.x * block.y * sizeof(int);

    init_kernel<<<grid, block, shared, stream>>>(*in, state->parent, params->connectivity);
    CUDA_TRY(cudaGetLastError());
    merge_kernel<<<grid, block, 0, stream>>>(*in, state->parent, params->connectivity);
    CUDA_TRY(cudaGetLastError());
    compress_kernel<<<grid, block, 0, stream>>>(*in, *out, state->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parent);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
