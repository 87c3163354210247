/* expect: right 2..2 | fewer launches 0..0 | speed 0..0 */
/*
 * Idea:     the trees of the task before, which need no passes and no tiles.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "common/cuda/relaxed.h"

struct state {
    int *parent; /* device: of each pixel, by raster index; that of a root is itself */
};

static __device__ bool is_foreground(const struct image &in, int x, int y)
{
    return x >= 0 && y >= 0 && x < in.width && y < in.height && ((const uint8_t *)image_row(&in, y))[x] != 0;
}

/* The root of node i, while others change trees: a parent only becomes smaller, so each leads upwards. */
static __device__ int find(const int *parent, int i)
{
    for (int up = load_relaxed(&parent[i]); up != i; up = load_relaxed(&parent[i]))
        i = up;
    return i;
}

/* Who wanted to hang a root under another one, and finds that it is none any more, unites what it found there as
 * well. */
static __device__ void unite(int *parent, int a, int b)
{
    a = find(parent, a);
    b = find(parent, b);
    while (a != b) {
        int larger = max(a, b), smaller = min(a, b);
        int found = atomicMin(&parent[larger], smaller);
        if (found == larger)
            return;
        a = find(parent, found);
        b = find(parent, smaller);
    }
}

static __global__ void init_kernel(struct image in, int *parent)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        parent[y * in.width + x] = y * in.width + x;
}

static __global__ void merge_kernel(struct image in, int *parent, int connectivity)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1}; /* connectivity 4 takes the first two */

    if (!is_foreground(in, x, y))
        return;
    for (int k = 0; k < connectivity / 2; k++)
        if (is_foreground(in, x + dx[k], y + dy[k]))
            unite(parent, y * in.width + x, (y + dy[k]) * in.width + x + dx[k]);
}

static __global__ void compress_kernel(struct image in, struct image out, const int *parent)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    int root = y * in.width + x;
    while (parent[root] != root)
        root = parent[root];
    ((int *)image_row(&out, y))[x] = is_foreground(in, x, y) ? root + 1 : 0;
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

    init_kernel<<<grid, block, 0, stream>>>(*in, state->parent);
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
