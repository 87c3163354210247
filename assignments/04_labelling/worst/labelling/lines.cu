/*
 * Idea:     a thread for each row takes its labels along, to the right and then to the left, as far as foreground goes;
 *           then a thread for each column does so downwards and upwards. Passes of both go on until one changes
 *           nothing.
 * Changed:  a label goes any distance along a line in one launch, where steps.cu goes one pixel. Threads share no
 *           pixel, so that here too passes depend on the picture alone.
 * Expect:   launches: as many as ways have bends, however long they are straight.
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct state {
    int *changed; /* device: whether the last pass changed a label */
};

static const char *declines(const struct image in[], const void *params)
{
    if (((const struct labelling_params *)params)->connectivity == 8)
        return "goes along rows and columns, not along diagonals";
    return labelling_labels_only(in, params);
}

static __global__ void init_kernel(struct image in, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((int *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[x] ? y * in.width + x + 1 : 0;
}

/* Takes the least label so far on to the next one of a run; returns what the one behind that gets. */
static __device__ int carry(int *label, int least, int *changed)
{
    if (*label == 0)
        return 0;
    if (least == 0 || *label <= least)
        return *label;
    *changed = 1;
    return *label = least;
}

static __global__ void rows_kernel(struct image out, int *changed)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x, least = 0;

    if (y >= out.height)
        return;
    int *labels = (int *)image_row(&out, y);
    for (int x = 0; x < out.width; x++)
        least = carry(&labels[x], least, changed);
    least = 0;
    for (int x = out.width - 1; x >= 0; x--)
        least = carry(&labels[x], least, changed);
}

static __global__ void columns_kernel(struct image out, int *changed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, least = 0;

    if (x >= out.width)
        return;
    for (int y = 0; y < out.height; y++)
        least = carry((int *)image_row(&out, y) + x, least, changed);
    least = 0;
    for (int y = out.height - 1; y >= 0; y--)
        least = carry((int *)image_row(&out, y) + x, least, changed);
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
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    int limit = in->width * in->height, changed = 1;

    (void)params;
    init_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
    for (int pass = 0; changed; pass++) {
        if (pass == limit)
            return status_set(STATUS_FAILED, "labels still change after %d passes", pass);
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        rows_kernel<<<ceiling_divide(in->height, 64), 64, 0, stream>>>(*out, state->changed);
        CUDA_TRY(cudaGetLastError());
        columns_kernel<<<ceiling_divide(in->width, 64), 64, 0, stream>>>(*out, state->changed);
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

RUNGS_CUDA_VERSION(labelling, .declines = declines)
