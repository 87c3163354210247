/*
 * Idea:     a block counts the values of its pixels in shared memory, and adds its 256 counts to those in global
 *           memory.
 * Changed:  an addition to global memory for each value and block, in place of one for each pixel.
 * Expect:   the counting kernel no longer waits for global memory: a block of 256 threads has 4096 pixels.
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

enum { THREADS = 256, PIXELS = 16 /* of a thread */ };

struct state {
    unsigned *histogram; /* in device memory */
};

static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    __shared__ unsigned counts[OTSU_BINS];
    int x = blockIdx.x * THREADS * PIXELS + threadIdx.x;
    const uint8_t *row = (const uint8_t *)image_row(&in, blockIdx.y);

    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < PIXELS && x < in.width; i++, x += THREADS)
        atomicAdd(&counts[row[x]], 1);
    if (counts[threadIdx.x])
        atomicAdd(&histogram[threadIdx.x], counts[threadIdx.x]);
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
    dim3 grid(ceiling_divide(in->width, THREADS * PIXELS), in->height);

    (void)params;
    CUDA_TRY(cudaMemsetAsync(state->histogram, 0, OTSU_BINS * sizeof *state->histogram, stream));
    count_kernel<<<grid, THREADS, 0, stream>>>(*in, state->histogram);
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
