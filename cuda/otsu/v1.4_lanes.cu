/*
 * Idea:     counters that no two threads of a warp share: each value has 32 of them, one for each lane, in the lane's own
 *           bank of shared memory. So the picture does not matter: an image of one value takes as long as noise.
 * Changed:  count_kernel. A block of 16 warps has 32 KB of counters, as much as 32 warps had with a histogram each; 16
 *           pixels are one load, and the next is under way while they are counted; as many blocks as the device holds at
 *           once, so that each adds to global memory once.
 * Expect:   at 3840x2160 some 2000 atomics of a warp for each multiprocessor, 2 to 4 cycles each: 2.5 to 4.5 us in place of
 *           the conflicts and byte loads of v1.2, and some 6 us for the starts of a memset and two kernels: twice as fast.
 * Result:   1.88 times v1.2 with noise at 3840x2160, 12.3 us (results/h200/otsu/otsu_lanes_3840x2160.json), 2.36 times at
 *           1920x1080 (otsu_lanes_1920x1080.json beside it).
 * From:     cuda/v1.2
 */
/* Try: make bench-otsu VERSIONS=cuda/v1.2,cuda/v1.4,cuda/v2.0 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    unsigned *histogram; /* in device memory */
    int multiprocessors;
};

enum { THREADS = 512, BLOCKS = 2 /* for a multiprocessor */ };

static __global__ void __launch_bounds__(THREADS) count_kernel(struct image in, unsigned *histogram)
{
    __shared__ __align__(16) unsigned counters[OTSU_BINS][32]; /* [value][lane] */
    const int lane = threadIdx.x % 32, across = (in.width + 15) / 16, chunks = across * in.height;
    int chunk = blockIdx.x * THREADS + threadIdx.x;
    uint4 next = {};

    /* Rows start at a multiple of 64 bytes and may be read to the next one after their end (image.h). */
    if (chunk < chunks)
        next = ((const uint4 *)image_row(&in, chunk / across))[chunk % across];
    for (int k = threadIdx.x; k < OTSU_BINS * 8; k += THREADS)
        ((uint4 *)counters)[k] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    while (chunk < chunks) {
        const unsigned words[4] = {next.x, next.y, next.z, next.w};
        const int pixels = in.width - chunk % across * 16;
        chunk += gridDim.x * THREADS;
        if (chunk < chunks)
            next = ((const uint4 *)image_row(&in, chunk / across))[chunk % across];
#pragma unroll
        for (int i = 0; i < 16; i++)
            if (i < pixels)
                atomicAdd(&counters[words[i / 4] >> 8 * (i % 4) & 0xff][lane], 1);
    }
    __syncthreads();

    /* Two threads add up a value's 32 counters, starting at different ones so that they meet in no bank. */
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) {
        const uint4 part = ((const uint4 *)counters)[threadIdx.x * 4 + (i + threadIdx.x / 2) % 4];
        sum += part.x + part.y + part.z + part.w;
    }
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    if (threadIdx.x % 2 == 0 && sum)
        atomicAdd(&histogram[threadIdx.x / 2], sum);
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
    int device;

    (void)in, (void)params;
    if (state->histogram)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(device_allocate((void **)&state->histogram, OTSU_BINS * sizeof *state->histogram));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct otsu_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const unsigned most = state->multiprocessors * BLOCKS;
    const unsigned wanted = ceiling_divide(ceiling_divide(in->width, 16) * in->height, THREADS),
                   grid = wanted < most ? wanted : most;

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
