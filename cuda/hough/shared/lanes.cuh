/*
 * lanes.cuh: counters in shared memory, a lane a row, for v2.0 and v2.1.
 *
 *              lane (bank)  0      1           31
 *     cell 0              row 0  row 1  ...  row 31
 *     cell 1              row 0  row 1  ...  row 31
 */
#ifndef RUNGS_HOUGH_STEPS_LANES_CUH
#define RUNGS_HOUGH_STEPS_LANES_CUH

#include "cuda/hough/shared/tiles.h"

enum {
    LANES = 32,
    GROUPS = 2, /* of LANES rows, of a block */
    CELL_BYTES = LANES * sizeof(int),
    ROUNDER_BITS = 0x4b400000 /* of 1.5 * 2^23 */
};

/* hough_offset() + ROUNDER_BITS, in 4 instructions. */
static __device__ inline unsigned offset_bits(float2 point, struct hough_angle angle)
{
    return __float_as_uint(
        __fadd_rn(__fadd_rn(__fmul_rn(point.x, angle.cosine), __fmul_rn(point.y, angle.sine)), 0x1.8p23F));
}

/* Places in bytes, so that one instruction makes an address of an offset. */
static __device__ inline int *counter_at(int *counters, unsigned bits, unsigned zero)
{
    return (int *)((char *)counters + (bits * CELL_BYTES + zero));
}

/* The least offset in a row of the points of tile (blockIdx.y, blockIdx.z), which one of its corners has. */
static __device__ inline int least_offset(struct hough_angle angle)
{
    int left = blockIdx.y * TILES_SIDE, right = left + TILES_SIDE - 1;
    int top = blockIdx.z * TILES_SIDE, bottom = top + TILES_SIDE - 1;

    return min(min(hough_offset(left, top, angle), hough_offset(right, top, angle)),
               min(hough_offset(left, bottom, angle), hough_offset(right, bottom, angle)));
}

/* Of 8 lanes in a row and their 8 values each: lane r gets value r of each. */
static __device__ inline void transpose(int values[8])
{
    for (int s = 1; s < 8; s *= 2)
        for (int k = 0; k < 8; k++)
            if (!(k & s)) {
                const bool upper = threadIdx.x & s;
                const int other = __shfl_xor_sync(0xffffffff, upper ? values[k] : values[k | s], s);
                values[k] = upper ? other : values[k];
                values[k | s] = upper ? values[k | s] : other;
            }
}

#endif
