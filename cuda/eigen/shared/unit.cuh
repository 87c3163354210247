/*
 * unit.cuh: the unit of a matrix (eigen.h) by the threads of a block.
 */
#ifndef RUNGS_CUDA_EIGEN_UNIT_CUH
#define RUNGS_CUDA_EIGEN_UNIT_CUH

#include "common/algo/eigen.h"

/* The unit of the matrix whose first row is `top`, for all threads of the block; parts[] has a place for each. */
static __device__ double unit_of_block(const struct image *in, int top, double *parts)
{
    const int n = in->width;
    double largest = 0;

    for (int i = threadIdx.x; i < n * n; i += blockDim.x)
        if (i / n <= i % n)
            largest = fmax(largest, fabs(((const double *)image_row(in, top + i / n))[i % n]));
    parts[threadIdx.x] = largest;
    __syncthreads();
    for (int i = 0; i < (int)blockDim.x; i++)
        largest = fmax(largest, parts[i]);
    return eigen_unit(largest);
}

#endif
