/*
 * operands.cuh: samples of 16 pixels as operands of the tensor cores. An f32 sample is the sum of two bfloat16 within
 * 2^-17 of it, an upper and a lower part; a byte is one bfloat16.
 *
 * A warp has a tile of 8 planes by 16 pixels in 4 registers of each lane. With group = lane / 4 and member = lane % 4
 * (mma.cuh) a lane holds plane `group` of the pixels 4 member to 4 member + 3:
 *
 *                   pixels 0-3   4-7   8-11  12-15
 *        plane 0  |  lane 0       1     2     3   |     x, y: the upper parts of 4 samples, two in a register
 *        plane 1  |  lane 4       5     6     7   |     z, w: their lower parts
 *          ...
 *        plane 7  |  lane 28     29    30    31   |
 *
 * A tile is operand B, two tiles are operand A: the order of the pixels does not matter in a sum over them. The matrix
 * is a triangle of squares of 32 planes, each with 4 tiles on both sides:
 *
 *                    columns: 4 tiles of 8 planes
 *                   +-------+-------+-------+-------+
 *      rows:        |16 x 8 |       |       |       |   sums[r][c], 4 of them in each lane
 *      2 pairs of   +-------+-------+-------+-------+
 *      tiles        |       |       |       |       |
 *                   +-------+-------+-------+-------+
 */
#ifndef RUNGS_CORRELATION_OPERANDS_CUH
#define RUNGS_CORRELATION_OPERANDS_CUH

#include "common/algo/correlation.h"
#include "common/cuda/mma.cuh"

/* nvcc's word before loops over registers, which have no index; the emulator's compiler does not know it. */
#ifdef RUNGS_EMULATED
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif

enum {
    STEP = 16 /* pixels */,
    TILE = 8 /* planes */,
    SQUARE = 4 /* tiles a side */,
    SIDE = SQUARE * TILE /* planes */,
    PRODUCTS = 128 /* sums of a pair of tiles with a tile */,
    WARPS = 8 /* of a block */
};
enum { RUN_WHOLE = 256, RUN_REAL = 1024 /* pixels of an f32 sum: u8 stays exact, f32 within the contract */ };

/* The picture as one row where its rows have no gaps: then no sample costs a division. */
static inline struct image flat(const struct image *in)
{
    struct image cube = *in;

    if (in->stride == image_row_bytes(in))
        cube.width *= in->height, cube.height = 1;
    return cube;
}

/* Four pixels' samples of a plane, 0 behind the last pixel or plane. */
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

/* Adds 16 x 8 products of two tiles with one: part 0 of upper with upper parts, 1 of upper with lower, 2 of lower with
 * upper. */
static __device__ inline void multiply(float sums[4], const uint4 &left, const uint4 &right, const uint4 &beside,
                                       int part)
{
    const unsigned upper[4] = {left.x, right.x, left.y, right.y}, lower[4] = {left.z, right.z, left.w, right.w};
    const unsigned top[2] = {beside.x, beside.y}, rest[2] = {beside.z, beside.w};

    mma_m16n8k16_bf16(sums, part == 2 ? lower : upper, part == 1 ? rest : top, sums);
}

/* Adds the sums of all warps, each of PAIRS pairs of tiles with TILES tiles, to the totals: one pair with all at a
 * time. */
template <int PAIRS, int TILES>
static __device__ inline void add_sums(const float sums[PAIRS][TILES][4], int row, int column, int planes,
                                       float *staged, double *totals)
{
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    UNROLL
    for (int r = 0; r < PAIRS; r++) {
        const int from = row < column ? 0 : 2 * r; /* not below the diagonal */
        __syncthreads();
        for (int c = 0; c < TILES; c++)
            if (c >= from)
                *(float4 *)&staged[(warp * TILES + c) * PRODUCTS + lane * 4] =
                    make_float4(sums[r][c][0], sums[r][c][1], sums[r][c][2], sums[r][c][3]);
        __syncthreads();
        for (int k = from * PRODUCTS + threadIdx.x; k < TILES * PRODUCTS; k += blockDim.x) {
            const int u = row + (2 * r + k % 4 / 2) * TILE + k % PRODUCTS / 16;
            const int v = column + k / PRODUCTS * TILE + k / 4 % 4 * 2 + k % 2;
            double sum = 0;
            for (int other = 0; other < warps; other++)
                sum += staged[other * TILES * PRODUCTS + k];
            if (u <= v && v < planes)
                atomicAdd(&totals[u * planes + v], sum);
        }
    }
}

#endif
