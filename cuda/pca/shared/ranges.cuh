/*
 * ranges.cuh: the range of a component (struct pca_range) in a form that atomics on the device can update.
 */
#ifndef RUNGS_PCA_RANGES_CUH
#define RUNGS_PCA_RANGES_CUH

#include "common/algo/pca.h"

/* Atomics find the extremes of integers: keys in the order of the floats. */
struct extremes {
    unsigned smallest, largest, longest; /* spectrum, its square */
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
    return {from_ordered(extremes->smallest), from_ordered(extremes->largest), extremes->sum, extremes->squares,
            from_ordered(extremes->longest)};
}

static __global__ void clear_extremes_kernel(struct extremes *extremes)
{
    extremes[threadIdx.x] = {0xffffffffu, 0, ordered(0), 0, 0};
}

#endif
