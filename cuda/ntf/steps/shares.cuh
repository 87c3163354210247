/*
 * shares.cuh: sums over the lanes of a warp, of 16 values that each of them has, in 16 exchanges instead of 48: with every
 * exchange a lane gives away the half of its values that its partner goes on with.
 */
#ifndef RUNGS_NTF_STEPS_SHARES_CUH
#define RUNGS_NTF_STEPS_SHARES_CUH

#include <cuda_runtime.h>

/* share[0] becomes row lane / 8 of the sums over the 8 lanes that differ in bits 2 to 4. Constant places keep the rows in
 * registers. */
static __device__ inline void sum_of_lanes(float share[4][4])
{
    const unsigned all = 0xffffffff;
    const bool upper = threadIdx.x & 16, odd = threadIdx.x & 8;

    for (int j = 0; j < 4; j++) {
        const float first = __shfl_xor_sync(all, upper ? share[0][j] : share[2][j], 16);
        const float second = __shfl_xor_sync(all, upper ? share[1][j] : share[3][j], 16);
        share[0][j] = (upper ? share[2][j] : share[0][j]) + first;
        share[1][j] = (upper ? share[3][j] : share[1][j]) + second;
        const float third = __shfl_xor_sync(all, odd ? share[0][j] : share[1][j], 8);
        share[0][j] = (odd ? share[1][j] : share[0][j]) + third;
        share[0][j] += __shfl_xor_sync(all, share[0][j], 4);
    }
}

/* The sum of a value of four neighbouring lanes. */
static __device__ inline float sum_of_four(float value)
{
    value += __shfl_xor_sync(0xffffffff, value, 1);
    return value + __shfl_xor_sync(0xffffffff, value, 2);
}

#endif
