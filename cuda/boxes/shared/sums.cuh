/*
 * sums.cuh: a prefix sum (scan) over a block, for the kernels that turn entries of the table into rows.
 */
#ifndef RUNGS_BOXES_SUMS_CUH
#define RUNGS_BOXES_SUMS_CUH

#include "cuda/boxes/shared/rows.h"

/* Sums of all values before each thread's own, over a block of BOXES_STRETCH threads; *total is the sum of all. `sums`,
 * in shared memory, has room for those of the warps. */
static __device__ inline int sums_before(int value, int *total, int sums[BOXES_STRETCH / 32])
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = value, before = 0;

    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, step);
        sum += lane >= step ? other : 0;
    }
    __syncthreads(); /* a second call must not overwrite these sums before all threads have read them */
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    *total = 0;
    for (int i = 0; i < BOXES_STRETCH / 32; i++) {
        before += i < warp ? sums[i] : 0;
        *total += sums[i];
    }
    return before + sum - value;
}

#endif
