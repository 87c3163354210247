/*
 * Idea:     neighbour propagation as in cuda/neighbour_propagation.
 * Changed:  only a label that moves along a column sets the flag: what spreads sideways alone stops after the first
 *           pass.
 * Expect:   race | components are split
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct state {
    int *changed;
};

static __device__ int label_at(const struct image &out, int x, int y)
{
    return x >= 0 && y >= 0 && x < out.width && y < out.height ? ((const int *)image_row(&out, y))[x] : 0;
}

static __global__ void init_kernel(struct image in, struct image out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % in.width, y = i / in.width;

    if (y < in.height)
        ((int *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[x] ? i + 1 : 0;
}

static __global__ void propagate_kernel(struct image out, int connectivity, int *changed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % out.width, y = i / out.width;
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1};

    if (label_at(out, x, y) == 0)
        return;
    for (int k = 0; k < connectivity; k++) {
        int label = label_at(out, x + dx[k], y + dy[k]);
        if (label == 0 || label >= label_at(out, x, y))
            continue;
        ((int *)image_row(&out, y))[x] = label;
        if (dx[k] == 0)
            *changed = 1;
    }
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (!state->changed)
        TRY(device_allocate((void **)&state->changed, sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const unsigned blocks = ceiling_divide(in->width * in->height, 128);
    int changed = 1;

    init_kernel<<<blocks, 128, 0, stream>>>(*in, *out);
    while (changed) {
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        propagate_kernel<<<blocks, 128, 0, stream>>>(*out, params->connectivity, state->changed);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaMemcpyAsync(&changed, state->changed, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->changed);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
