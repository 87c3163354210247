/*
 * Problem:  Lanes of a warp meet on one counter, a load moves one byte, and a call is 3 launches.
 * Idea:     Privatization per lane: each value has 32 counters, that of lane i in bank i, so no
 *           lanes meet. Loads move 16 bytes (prefetched). Last-block reduction: tickets (an atomic
 *           counter) tell which block is last; it searches the threshold, so one launch does all.
 * Expect:   4.5 to 6.5 us: launch 2 us, 2000 atomic instructions per multiprocessor 2.5 to 4.5 us.
 * Result:   2.1 times as fast as cuda/v1.3, 11.1 us (results/h100/otsu/otsu_3840x2160.json); the
 *           reason is not known.
 * Run:      make diff-otsu A=cuda/v1.3 B=cuda/v2.0
 */
#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

enum { THREADS = 512 };

struct scratch { /* all 0 between launches */
    unsigned histogram[OTSU_BINS], finished;
};

struct state {
    struct scratch *scratch; /* in device memory */
    int multiprocessors;
};

static int blocks = 2;
static const int blocks_legal[] = {1, 2, 3, 4, 0};
static struct tunable tunables[] = {{"blocks", &blocks, blocks_legal, "blocks of 512 threads for a multiprocessor"},
                                    {}};

static __global__ void __launch_bounds__(THREADS)
    otsu_kernel(struct image in, struct image out, struct scratch *scratch)
{
    /*          bank 0   bank 1   ...  bank 31
     * value 0  lane 0   lane 1   ...  lane 31     32 KB: a warp's 32 atomics are in 32 banks, whatever the values are
     * value 1  lane 0   lane 1   ...  lane 31 */
    __shared__ __align__(16) unsigned counters[OTSU_BINS][32];
    __shared__ struct otsu_room room;
    __shared__ bool last;
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

    /* Two threads add up a value's 32 counters; each starts at another one, so that there is no bank conflict. */
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) {
        const uint4 part = ((const uint4 *)counters)[threadIdx.x * 4 + (i + threadIdx.x / 2) % 4];
        sum += part.x + part.y + part.z + part.w;
    }
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    if (threadIdx.x % 2 == 0 && sum)
        atomicAdd(&scratch->histogram[threadIdx.x / 2], sum);

    /* The block with the last ticket sees the counts of all others, which lie before their barriers and fences. */
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(&scratch->finished, gridDim.x - 1) == gridDim.x - 1; /* and 0 again */
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    const unsigned mine = threadIdx.x < OTSU_BINS ? atomicExch(&scratch->histogram[threadIdx.x], 0) : 0;
    const int threshold = otsu_search(mine, &room);
    if (threadIdx.x == 0)
        *(int *)out.data = threshold;
}

static enum status setup(struct state *state, const struct image in[], const struct otsu_params *params)
{
    enum status status = STATUS_OK;
    int device;

    (void)in, (void)params;
    if (state->scratch)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(device_allocate((void **)&state->scratch, sizeof *state->scratch));
    TRY(device_clear(state->scratch, sizeof *state->scratch));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct otsu_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const unsigned most = state->multiprocessors * blocks;
    const unsigned wanted = ceiling_divide(ceiling_divide(in->width, 16) * in->height, THREADS),
                   grid = wanted < most ? wanted : most;

    (void)params;
    otsu_kernel<<<grid, THREADS, 0, stream>>>(*in, *out, state->scratch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->scratch);
}

RUNGS_CUDA_VERSION(otsu, .tunables = tunables, .staged = true)
