/*
 * ranges.cuh: ranges of components (struct pca_range) as atomics on the device can find them, and what pca's rungs share of it.
 */
#ifndef RUNGS_PCA_STEPS_RANGES_CUH
#define RUNGS_PCA_STEPS_RANGES_CUH

#include "common/algo/pca.h"

/* Extremes are integers whose order is that of the floats. */
struct extremes {
    unsigned smallest, largest;
    double sum, squares;
};

static __device__ unsigned ordered(float value)
{
    const unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static __device__ float from_ordered(unsigned key)
{
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

static __device__ struct pca_range range_of(const struct extremes *extremes)
{
    return {from_ordered(extremes->smallest), from_ordered(extremes->largest), extremes->sum, extremes->squares};
}

/* The same in registers of a thread. */
struct spread {
    float smallest, largest;
    double sum, squares;
};

static __device__ inline void spread_add(struct spread *spread, float value)
{
    spread->smallest = fminf(spread->smallest, value);
    spread->largest = fmaxf(spread->largest, value);
    spread->sum += value;
    spread->squares += (double)value * value;
}

/* Those of the 32 threads of a warp into *extremes. One that has seen no value is INFINITY, -INFINITY, 0, 0. */
static __device__ inline void spread_store(struct spread spread, struct extremes *extremes)
{
    const unsigned all = 0xffffffff;

    for (int step = 16; step > 0; step /= 2) {
        spread.smallest = fminf(spread.smallest, __shfl_xor_sync(all, spread.smallest, step));
        spread.largest = fmaxf(spread.largest, __shfl_xor_sync(all, spread.largest, step));
        spread.sum += __shfl_xor_sync(all, spread.sum, step);
        spread.squares += __shfl_xor_sync(all, spread.squares, step);
    }
    if (threadIdx.x % 32 > 0)
        return;
    atomicMin(&extremes->smallest, ordered(spread.smallest));
    atomicMax(&extremes->largest, ordered(spread.largest));
    atomicAdd(&extremes->sum, spread.sum);
    atomicAdd(&extremes->squares, spread.squares);
}

static __global__ void clear_extremes_kernel(struct extremes *extremes)
{
    extremes[threadIdx.x] = {0xffffffffu, 0, 0, 0};
}

#endif
