/*
 * Idea:     the lanes of a warp add up their halves without barriers: they run in step anyway.
 * Changed:  which they no longer do since compute capability 7.0: __syncwarp() is missing.
 * Expect:   race
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    unsigned *histogram; /* in device memory */
};

/* A warp for each value and row: how often it comes there. */
static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    __shared__ unsigned sums[32];
    const int lane = threadIdx.x, value = blockIdx.x % OTSU_BINS, y = blockIdx.x / OTSU_BINS;
    unsigned count = 0;

    for (int x = lane; x < in.width; x += 32)
        count += ((const uint8_t *)image_row(&in, y))[x] == value;
    sums[lane] = count;
    __syncthreads();
    for (int step = 16; step > 0; step /= 2)
        if (lane < step)
            sums[lane] += sums[lane + step];
    if (lane == 0 && sums[0])
        atomicAdd(&histogram[value], sums[0]);
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
    count_kernel<<<in->height * OTSU_BINS, 32, 0, stream>>>(*in, state->histogram);
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
