/*
 * Idea:     v1.4's idea on blocks: the first block that a block touches becomes its parent without atomics, and a byte
 *           keeps which others it touches.
 * Changed:  init links and writes that byte; flatten; reduce reads the byte and unites only what it names, most often
 *           nothing.
 * Expect:   kernel 1.2 times faster than v1.6's: a shape's inner blocks touch all four, and three of four unions, which
 *           only find equal roots, get shorter walks; the byte costs a sixteenth of what the labels do.
 */
/* Try: make bench-labelling VERSIONS=cuda/v1.1,cuda/v1.4,cuda/v1.6,cuda/v1.7
 * Paper:    Allegretti, Bolelli and Grana, Optimized Block-Based Algorithms to Label Connected Components on GPUs, IEEE
 *           TPDS 31(2), 2020: BKE. */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/blocks.cuh"
#include "cuda/labelling/shared/trees.cuh"

struct state {
    int *parent;         /* device: of each pixel, by raster index; that of a root is itself */
    unsigned char *rest; /* device: of each block, the blocks before it that it touches besides its parent */
};

/* A parent must come before its child; the block to the left may begin with its lower row, and then does not. */
static __global__ void init_kernel(struct image in, int *parent, unsigned char *rest)
{
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    const int before_x[4] = {-2, 0, 2, -2}, before_y[4] = {-2, -2, -2, 0};
    int node = node_of(in, x, y), touched = node >= 0 ? touched_blocks(in, x, y) : 0, up = node;

    if (x >= in.width || y >= in.height)
        return;
    for (int k = 0; k < 4 && up == node; k++)
        if (touched >> k & 1) {
            int before = node_of(in, x + before_x[k], y + before_y[k]);
            if (before < node) {
                up = before;
                touched ^= 1 << k;
            }
        }
    if (node >= 0)
        parent[node] = up;
    rest[y / 2 * ((in.width + 1) / 2) + x / 2] = touched;
}

/* Races, all benign: a walk may see a parent before or after it is replaced by its root. */
static __global__ void flatten_kernel(struct image in, int *parent)
{
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    int node = node_of(in, x, y);

    if (node >= 0)
        store_relaxed(&parent[node], find(parent, node));
}

static __global__ void reduce_kernel(struct image in, int *parent, const unsigned char *rest)
{
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    const int before_x[4] = {-2, 0, 2, -2}, before_y[4] = {-2, -2, -2, 0};

    if (x >= in.width || y >= in.height)
        return;
    for (int touched = rest[y / 2 * ((in.width + 1) / 2) + x / 2], k = 0; k < 4; k++)
        if (touched >> k & 1)
            unite(parent, node_of(in, x, y), node_of(in, x + before_x[k], y + before_y[k]));
}

static __global__ void compress_kernel(struct image in, struct image out, const int *parent)
{
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    int node = node_of(in, x, y), label = node >= 0 ? root_of(parent, node) + 1 : 0;

    for (int k = 0; k < 4; k++)
        if (x + k % 2 < in.width && y + k / 2 < in.height)
            ((int *)image_row(&out, y + k / 2))[x + k % 2] = is_foreground(in, x + k % 2, y + k / 2) ? label : 0;
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
    if (!state->rest)
        TRY(device_allocate((void **)&state->rest, ((size_t)in->width + 1) / 2 * ((in->height + 1) / 2)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    (void)params;
    dim3 block(32, 4);
    dim3 grid(ceiling_divide((in->width + 1) / 2, block.x), ceiling_divide((in->height + 1) / 2, block.y));

    init_kernel<<<grid, block, 0, stream>>>(*in, state->parent, state->rest);
    CUDA_TRY(cudaGetLastError());
    flatten_kernel<<<grid, block, 0, stream>>>(*in, state->parent);
    CUDA_TRY(cudaGetLastError());
    reduce_kernel<<<grid, block, 0, stream>>>(*in, state->parent, state->rest);
    CUDA_TRY(cudaGetLastError());
    compress_kernel<<<grid, block, 0, stream>>>(*in, *out, state->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parent);
    device_free(state->rest);
}

RUNGS_CUDA_VERSION(labelling, .declines = blocks_decline)
