/*
 * Idea:     a block goes down a column of stripes; in each it counts its pixels in shared memory, adds the counts to
 *           those in global memory, and clears them for the next stripe.
 * Changed:  bins are cleared by the thread that has just added them up, in place of a loop before each stripe.
 * Expect:   one barrier a stripe less, and one pass over shared memory less.
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

enum { THREADS = OTSU_BINS, LINES = 4 /* of a stripe */, STRIPES = 8 /* of a block */ };

struct state {
    unsigned *histogram; /* in device memory */
};

static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    __shared__ unsigned counts[OTSU_BINS];
    const int x = blockIdx.x * THREADS + threadIdx.x;

    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int stripe = 0; stripe < STRIPES; stripe++) {
        const int top = (blockIdx.y * STRIPES + stripe) * LINES;
        for (int y = top; x < in.width && y < min(top + LINES, in.height); y++)
            atomicAdd(&counts[((const uint8_t *)image_row(&in, y))[x]], 1);
        __syncthreads();
        if (counts[threadIdx.x])
            atomicAdd(&histogram[threadIdx.x], counts[threadIdx.x]);
        counts[threadIdx.x] = 0;
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
    dim3 grid(ceiling_divide(in->width, THREADS), ceiling_divide(in->height, LINES * STRIPES));

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
