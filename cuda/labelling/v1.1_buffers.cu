/*
 * Problem:  cuda/v1.0 allocates and frees 75 MB of device memory in every call.
 * Idea:     Persistent buffers: the first call allocates and keeps the memory in the state. Later
 *           calls find it there and call neither cudaMalloc nor cudaFree.
 * Expect:   0.3 ms per call less than cuda/v1.0 at 3840x2160, for cudaMalloc and cudaFree change
 *           page tables. Upload, kernels and download take as long as before.
 * Result:   0.5 ms less end to end, 1.05 times as fast as cuda/v1.0
 *           (results/h100/labelling/labelling_3840x2160.json), but quartiles lie 1.5 ms apart.
 * Run:      make diff-labelling A=cuda/v1.0 B=cuda/v1.1
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/pixels.cuh"
#include "cuda/labelling/shared/trees.cuh"

struct state {
    int *parent; /* device: of each pixel, by raster index; that of a root is itself */
    struct image in, out;
};

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

    if (y >= in.height || !is_foreground(in, x, y))
        return;
    for (int k = 0; k < connectivity / 2; k++)
        if (is_foreground(in, x + dx[k], y + dy[k]))
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
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    if (!state->out.data)
        TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(labelling, .declines = labelling_labels_only)
