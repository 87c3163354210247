/*
 * Idea:     the union-find of v1.1 with a plain store in place of atomicMin.
 * Changed:  two threads that hang the same root under different trees overwrite each other: a union is lost.
 * Expect:   race | components are split
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct state {
    int *parent;
};

static __device__ int find(const int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

static __global__ void init_kernel(struct image in, int *parent)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < in.width * in.height; i += gridDim.x * blockDim.x)
        parent[i] = i;
}

static __global__ void merge_kernel(struct image in, int *parent, int connectivity)
{
    const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1};

    for (int k = 0; k < connectivity / 2; k++) {
        int roots[2] = {0, 0}, i = blockIdx.x * blockDim.x + threadIdx.x, x = i % in.width, y = i / in.width;
        int u = x + dx[k], v = y + dy[k];
        if (y < in.height && ((const uint8_t *)image_row(&in, y))[x] && u >= 0 && u < in.width && v >= 0 &&
            ((const uint8_t *)image_row(&in, v))[u]) {
            roots[0] = find(parent, i);
            roots[1] = find(parent, v * in.width + u);
        }
        __syncthreads(); /* all look before one writes: on a GPU, too, many do so at once */
        if (roots[0] != roots[1])
            parent[max(roots[0], roots[1])] = min(roots[0], roots[1]);
        __syncthreads();
    }
}

static __global__ void compress_kernel(struct image in, struct image out, const int *parent)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % in.width, y = i / in.width;

    if (y < in.height)
        ((int *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[x] ? find(parent, i) + 1 : 0;
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
    const unsigned blocks = ceiling_divide(in->width * in->height, 256);

    init_kernel<<<blocks, 256, 0, stream>>>(*in, state->parent);
    merge_kernel<<<blocks, 256, 0, stream>>>(*in, state->parent, params->connectivity);
    compress_kernel<<<blocks, 256, 0, stream>>>(*in, *out, state->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parent);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
