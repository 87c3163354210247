/*
 * Idea:     most unions need no atomics. Each pixel's parent is its first foreground neighbour, N, NW, NE or W, which
 *           only reads; walks then flatten these trees, and only W and NE, which the first neighbour may not know, are
 *           united.
 * Changed:  init links, flatten shortens all paths, and reduce takes the place of merge with 2 neighbours in place of 4
 *           (connectivity 4: 1 in place of 2), which mostly share a root already.
 * Expect:   kernel 2 times faster than v1.1's on photographs: nearly all atomics are gone, for one more kernel.
 * From:     cuda/v1.1
 */
/* Try: make bench-labelling VERSIONS=cuda/v1.1,cuda/v1.3,cuda/v1.4,cuda/v1.5,cuda/v1.6,cuda/v1.7,cuda/v1.8
 * Paper: Komura, GPU-based cluster-labeling algorithm without the use of conventional iteration, Computer Physics
 * Communications 194, 2015. */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/pixels.cuh"
#include "cuda/labelling/shared/trees.cuh"

struct state {
    int *parent; /* device: of each pixel, by raster index; that of a root is itself */
};

/* The first foreground neighbour in this order: it comes before the pixel, so there are no circles. */
static __global__ void init_kernel(struct image in, int *parent, int connectivity)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[4] = {0, -1, 1, -1}, dy[4] = {-1, -1, -1, 0}; /* N, NW, NE, W; connectivity 4: N, W */

    if (!is_foreground(in, x, y))
        return;
    parent[y * in.width + x] = y * in.width + x;
    for (int k = 0; k < 4; k += connectivity == 8 ? 1 : 3)
        if (is_foreground(in, x + dx[k], y + dy[k])) {
            parent[y * in.width + x] = (y + dy[k]) * in.width + x + dx[k];
            return;
        }
}

/* Races, all benign: a walk may see a parent before or after it is replaced by its root. */
static __global__ void flatten_kernel(struct image in, int *parent)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (is_foreground(in, x, y))
        store_relaxed(&parent[y * in.width + x], find(parent, y * in.width + x));
}

/* What the first neighbour cannot know: W may lie in another tree, and so may NE, which N would have joined. */
static __global__ void reduce_kernel(struct image in, int *parent, int connectivity)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (!is_foreground(in, x, y))
        return;
    if (is_foreground(in, x - 1, y))
        unite(parent, y * in.width + x, y * in.width + x - 1);
    if (connectivity == 8 && is_foreground(in, x + 1, y - 1))
        unite(parent, y * in.width + x, (y - 1) * in.width + x + 1);
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
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    init_kernel<<<grid, block, 0, stream>>>(*in, state->parent, params->connectivity);
    CUDA_TRY(cudaGetLastError());
    flatten_kernel<<<grid, block, 0, stream>>>(*in, state->parent);
    CUDA_TRY(cudaGetLastError());
    reduce_kernel<<<grid, block, 0, stream>>>(*in, state->parent, params->connectivity);
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
