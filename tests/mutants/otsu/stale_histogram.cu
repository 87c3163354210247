/*
 * Idea:     the counters stay on the device from call to call.
 * Changed:  and what the calls before counted stays in them.
 * Expect:   differs between runs
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    unsigned *histogram; /* in device memory */
};

static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    atomicAdd(&histogram[((const uint8_t *)image_row(&in, y))[x]], 1);
}

static __global__ void search_kernel(const unsigned *histogram, struct image out)
{
    __shared__ struct otsu_room room;
    const int threshold = otsu_search(histogram[threadIdx.x], &room);

    if (threadIdx.x == 0)
        *(int *)out.data = threshold;
}

static enum status setup(struct state *state, const struct image in[], const struct otsu_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (state->histogram)
        return STATUS_OK;
    TRY(device_allocate((void **)&state->histogram, OTSU_BINS * sizeof *state->histogram));
    TRY(device_clear(state->histogram, OTSU_BINS * sizeof *state->histogram));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct otsu_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    size_t shared = 0;

    (void)params;
    count_kernel<<<grid, block, shared, stream>>>(*in, state->histogram);
    CUDA_TRY(cudaGetLastError());
    search_kernel<<<1, OTSU_BINS, 0, stream>>>(state->histogram, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->histogram);
}

RUNGS_CUDA_VERSION(otsu)
