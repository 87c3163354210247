/*
 * Idea:     a block counts in shared memory.
 * Changed:  by counters[v]++, which reads, adds and writes: of two threads with the same value one is lost.
 * Expect:   race
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    unsigned *histogram; /* in device memory */
};

static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    __shared__ unsigned counters[OTSU_BINS];
    const int y = blockIdx.x;

    for (int v = threadIdx.x; v < OTSU_BINS; v += blockDim.x)
        counters[v] = 0;
    __syncthreads();
    for (int x = threadIdx.x; x < in.width; x += blockDim.x)
        counters[((const uint8_t *)image_row(&in, y))[x]]++;
    __syncthreads();
    for (int v = threadIdx.x; v < OTSU_BINS; v += blockDim.x)
        atomicAdd(&histogram[v], counters[v]);
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
    (void)in, (void)params;
    if (state->histogram)
        return STATUS_OK;
    return device_allocate((void **)&state->histogram, OTSU_BINS * sizeof *state->histogram);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct otsu_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    (void)params;
    CUDA_TRY(cudaMemsetAsync(state->histogram, 0, OTSU_BINS * sizeof *state->histogram, stream));
    count_kernel<<<in->height, 64, 0, stream>>>(*in, state->histogram);
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
