/*
 * Problem:  Blocks of cuda/v1.2 have 1024 threads, which wait for each other at two barriers.
 * Idea:     The shape of a block is a tunable, so that a search finds the fastest one.
 * Expect:   A medium shape is the fastest: a smaller block waits less and more blocks are resident,
 *           but each block adds 256 counters to global memory, for fewer pixels. Blocks of 8
 *           threads are far slower.
 * Result:   Kernels 1.01 times as fast as cuda/v1.2 with the default, 32x8 threads
 *           (results/h100/otsu/otsu_3840x2160.json).
 * Run:      make tune-otsu V=cuda/v1.3 SVG=heat.svg
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    unsigned *histogram; /* in device memory */
};

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

/* Counters fit: those of 32 warps take 32 KB of shared memory. */
static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

enum { ROWS = 32 /* pixels of a thread, one below the other */ };

static __global__ void count_kernel(struct image in, unsigned *histogram)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y * ROWS + threadIdx.y;
    extern __shared__ unsigned counters[]; /* [warp][value] */
    int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;

    for (int k = thread; k < (threads + 31) / 32 * OTSU_BINS; k += threads)
        counters[k] = 0;
    __syncthreads();
    for (int i = 0; i < ROWS; i++, y += blockDim.y)
        if (x < in.width && y < in.height)
            atomicAdd(&counters[thread / 32 * OTSU_BINS + ((const uint8_t *)image_row(&in, y))[x]], 1);
    __syncthreads();
    for (int v = thread; v < OTSU_BINS; v += threads) {
        unsigned sum = 0;
        for (int k = v; k < (threads + 31) / 32 * OTSU_BINS; k += OTSU_BINS)
            sum += counters[k];
        if (sum)
            atomicAdd(&histogram[v], sum);
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
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y * ROWS));
    size_t shared = ceiling_divide(block.x * block.y, 32) * OTSU_BINS * sizeof(unsigned);

    (void)params;
    CUDA_TRY(cudaMemsetAsync(state->histogram, 0, OTSU_BINS * sizeof *state->histogram, stream));
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

RUNGS_CUDA_VERSION(otsu, .tunables = tunables, .illegal = illegal)
