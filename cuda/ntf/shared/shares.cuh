/*
 * shares.cuh: four slices in the registers of a block, and sums over the lanes of a warp. Those of 16 values that each lane
 * has take 16 exchanges instead of 48: with every exchange a lane gives away the half of its values that its partner goes
 * on with.
 */
#ifndef RUNGS_NTF_STEPS_SHARES_CUH
#define RUNGS_NTF_STEPS_SHARES_CUH

#include <cuda_runtime.h>

#include "common/image/image.h"

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

/* Every 64th of `samples` samples of four slices, from sample `from` on, 0 behind the last. The last slice stands in for those
 * that are missing. The type is asked for once, not for each sample. */
static __device__ inline void load_slices(const struct image &in, int first, int from, int samples, float g[4][9])
{
    for (int b = 0; b < 4; b++) {
        const void *row = image_row(&in, min(first + b, in.height - 1));
        if (in.type == PIXEL_F32)
            for (int i = 0; i < 9; i++)
                g[b][i] = from + 64 * i < samples ? ((const float *)row)[from + 64 * i] : 0;
        else
            for (int i = 0; i < 9; i++)
                g[b][i] = from + 64 * i < samples ? ((const uint8_t *)row)[from + 64 * i] : 0;
    }
}

#endif
