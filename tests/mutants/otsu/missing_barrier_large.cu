/*
 * Idea:     each block counts in shared memory; small pictures need one round of it, large ones several.
 * Changed:  between the rounds, from 65,536 pixels on, no barrier keeps the counters from being cleared too early.
 * Expect:   race
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    unsigned *histogram; /* in device memory */
};

enum { ROUND = 65536 /* pixels of a block before it empties its counters */ };

static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    __shared__ unsigned counters[OTSU_BINS];
    const int pixels = in.width * in.height;

    for (int first = blockIdx.x * ROUND; first < pixels; first += gridDim.x * ROUND) {
        for (int v = threadIdx.x; v < OTSU_BINS; v += blockDim.x)
            counters[v] = 0;
        if (pixels <= ROUND)
            __syncthreads();
        for (int i = first + threadIdx.x; i < first + ROUND && i < pixels; i += blockDim.x)
            atomicAdd(&counters[((const uint8_t *)image_row(&in, i / in.width))[i % in.width]], 1);
        __syncthreads();
        for (int v = threadIdx.x; v < OTSU_BINS; v += blockDim.x)
            atomicAdd(&histogram[v], counters[v]);
        __syncthreads();
    }
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
    count_kernel<<<ceiling_divide(in->width * in->height, ROUND), 512, 0, stream>>>(*in, state->histogram);
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
