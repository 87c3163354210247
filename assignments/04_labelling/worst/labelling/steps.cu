/*
 * Idea:     labels spread one pixel in a pass: each pixel takes the least label of itself and its neighbours as the
 *           pass before left them. Passes go on until one changes nothing.
 * Changed:  reads one image of labels and writes another, so that no thread sees what another one of its pass has
 *           written: how many passes a picture takes depends on the picture alone, on every machine.
 * Expect:   launches: three more than the longest of the shortest ways from a component's first pixel to its others.
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct state {
    int *labels;  /* device: two images of them, in turn those before and behind a pass */
    int *changed; /* device: whether the last pass changed a label */
};

static __global__ void init_kernel(struct image in, int *labels)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * in.width + x;

    if (x < in.width && y < in.height)
        labels[at] = ((const uint8_t *)image_row(&in, y))[x] ? at + 1 : 0;
}

/* Rows of both are width labels long. */
static __global__ void step_kernel(const int *from, int *to, int width, int height, int connectivity, int *changed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1}; /* the sides come first */

    if (x >= width || y >= height)
        return;
    int own = from[y * width + x], least = own;
    for (int k = 0; own > 0 && k < connectivity; k++) {
        int u = x + dx[k], v = y + dy[k];
        if (u >= 0 && v >= 0 && u < width && v < height && from[v * width + u] > 0)
            least = min(least, from[v * width + u]);
    }
    to[y * width + x] = least;
    if (least < own)
        *changed = 1;
}

static __global__ void store_kernel(const int *labels, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < out.width && y < out.height)
        ((int *)image_row(&out, y))[x] = labels[y * out.width + x];
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->labels)
        TRY(device_allocate((void **)&state->labels, (size_t)2 * in->width * in->height * sizeof(int)));
    if (!state->changed)
        TRY(device_allocate((void **)&state->changed, sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    int pixels = in->width * in->height, changed = 1;

    init_kernel<<<grid, block, 0, stream>>>(*in, state->labels);
    CUDA_TRY(cudaGetLastError());
    for (int pass = 0; changed; pass++) {
        int *const from = state->labels + pass % 2 * pixels, *const to = state->labels + (pass + 1) % 2 * pixels;
        if (pass > pixels)
            return status_set(STATUS_FAILED, "labels still change after %d passes", pass);
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        step_kernel<<<grid, block, 0, stream>>>(from, to, in->width, in->height, params->connectivity, state->changed);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaMemcpyAsync(&changed, state->changed, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
    }
    store_kernel<<<grid, block, 0, stream>>>(state->labels, *out); /* the last pass left both halves equal */
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->labels);
    device_free(state->changed);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
