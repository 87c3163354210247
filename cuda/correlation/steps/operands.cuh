/*
 * operands.cuh: planes of 16 pixels as operands of the tensor cores, and products of 32 by 32 of them. An f32 sample is the sum
 * of two bfloat16 within 2^-17 of it, an upper and a lower one; a byte is one. With group and member as in mma.cuh, a lane
 * has, of a tile of 8 planes, plane `group` of the pixels 4 member to 4 member + 3: two registers of upper parts, two of lower
 * ones. They are operand B of the tile and half of operand A of a pair of tiles, for any order of the pixels does.
 */
#ifndef RUNGS_CORRELATION_STEPS_OPERANDS_CUH
#define RUNGS_CORRELATION_STEPS_OPERANDS_CUH

#include "common/algo/correlation.h"
#include "common/cuda/mma.cuh"

enum { STEP = 16 /* pixels */, TILE = 8 /* planes */, SQUARE = 4 /* tiles a side of what a warp sums */ };

/* Four pixels' samples of a plane, 0 behind the last pixel or plane. The picture is one row where its rows have no gaps. */
static __device__ inline void load_samples(const struct image &in, const float *shift, unsigned first, int plane,
                                           int planes, float samples[4])
{
    const unsigned size = in.channels * (in.type == PIXEL_U8 ? 1 : in.type == PIXEL_U16 ? 2 : 4);
    const unsigned left = plane < planes ? (unsigned)in.width * in.height - first : 0;
    const char *pixel = (const char *)in.data + (size_t)first * size;

    for (int i = 0; i < 4; i++, pixel += size) {
        if (in.height > 1)
            pixel = (const char *)image_row(&in, (first + i) / in.width) + (size_t)((first + i) % in.width) * size;
        samples[i] = i < (int)left ? correlation_plane(&in, pixel, shift, plane) : 0;
    }
}

static __device__ inline uint4 split_samples(const float samples[4])
{
    const uint2 upper = {pack_bf16(samples[0], samples[1]), pack_bf16(samples[2], samples[3])};

    return make_uint4(
        upper.x, upper.y,
        pack_bf16(samples[0] - __uint_as_float(upper.x << 16), samples[1] - __uint_as_float(upper.x & 0xffff0000)),
        pack_bf16(samples[2] - __uint_as_float(upper.y << 16), samples[3] - __uint_as_float(upper.y & 0xffff0000)));
}

/* Adds products of SQUARE tiles from `above` on with as many from `beside` on, those not below the diagonal that have tiles
 * below `tiles`; bytes have no lower parts. sums[r][c]: 16 rows from 16 r on, 8 columns from 8 c on. */
static __device__ inline void multiply_square(float sums[SQUARE / 2][SQUARE][4], const uint4 *panel, int above,
                                              int beside, int tiles, bool bytes)
{
    const int lane = threadIdx.x % 32;

    for (int r = 0; r < SQUARE / 2; r++) {
        const int first = above + 2 * r;
        if (first >= tiles)
            return;
        const uint4 zero = {}, left = panel[first * 32 + lane],
                    right = first + 1 < tiles ? panel[first * 32 + 32 + lane] : zero;
        const unsigned upper[4] = {left.x, right.x, left.y, right.y}, lower[4] = {left.z, right.z, left.w, right.w};
        for (int c = 0; c < SQUARE; c++) {
            if (beside + c < first || beside + c >= tiles)
                continue;
            const uint4 both = panel[(beside + c) * 32 + lane];
            const unsigned top[2] = {both.x, both.y}, rest[2] = {both.z, both.w};
            mma_m16n8k16_bf16(sums[r][c], upper, top, sums[r][c]);
            if (bytes)
                continue;
            mma_m16n8k16_bf16(sums[r][c], upper, rest, sums[r][c]);
            mma_m16n8k16_bf16(sums[r][c], lower, top, sums[r][c]);
        }
    }
}

#endif
