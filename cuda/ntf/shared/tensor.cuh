/*
 * tensor.cuh: 16 slices of the tensor, times the products of v and w, and times u, by the tensor cores. A float is the
 * sum of three bfloat16, and six products of these are the product of two floats within 2^-22. Two, three or four
 * products would leave 2^-16, which adds up to more than the contract allows where all samples are equal.
 *
 * A warp has 32 samples of each slice in its part of shared memory. With group = lane / 4 and member = lane % 4
 * (common/cuda/mma.cuh) a lane reads from it
 *
 *     for u   samples 8 member to 8 member + 7 of slices group and group + 8
 *     for P   samples sample_of(group) to + 3 of slices member, member + 4, member + 8 and member + 12
 *
 * for the order of the terms of a sum does not matter. Rows of 36 floats keep both free of bank conflicts.
 */
#ifndef RUNGS_NTF_TENSOR_CUH
#define RUNGS_NTF_TENSOR_CUH

#include "common/cuda/mma.cuh"
#include "cuda/ntf/shared/iterate.h"

enum { SLICES = 16, WIDTH = 32 /* samples of a warp */, WARPS = 18, FUSED = 32 * WARPS, LARGEST = WARPS * WIDTH };
enum { HIGHEST = 64 /* rank */, TERM = 16 /* terms of an instruction */, SIDE = 8 /* columns of it */ };

/* Four floats, in parts of 8 bits: the first ones, what they leave, what that leaves. */
struct operand {
    uint2 parts[3];
};

/* What a block that has SIDE * TILES columns keeps in shared memory. */
template <int TILES> struct room {
    struct operand products[WARPS][2][TILES][32];      /* of v and w, as operands */
    struct operand weights[HIGHEST / TERM][TILES][32]; /* V W as operands */
    struct operand rows[TILES][32];                    /* u as operands */
    float slices[WARPS][SLICES][WIDTH + 4];
    float shares[WARPS + HIGHEST / TERM][SLICES][SIDE * TILES + 8]; /* of the numerators, then of the denominators */
};

static __device__ inline struct operand split_floats(float a, float b, float c, float d)
{
    struct operand operand;

    for (int part = 0; part < 3; part++) {
        const uint2 own = operand.parts[part] = make_uint2(pack_bf16(a, b), pack_bf16(c, d));
        a -= __uint_as_float(own.x << 16), b -= __uint_as_float(own.x & 0xffff0000);
        c -= __uint_as_float(own.y << 16), d -= __uint_as_float(own.y & 0xffff0000);
    }
    return operand;
}

/* Adds 16 x 8 products to each tile's sums, small ones first: rows `group` of operand A in `left`, rows group + 8 in
 * `right`. */
template <int TILES>
static __device__ inline void multiply_tiles(float sums[TILES][4], const struct operand &left,
                                             const struct operand &right, const struct operand beside[TILES])
{
    for (int both = 2; both >= 0; both--)
        for (int part = 0; part <= both; part++)
            for (int j = 0; j < TILES; j++) {
                const uint2 upper = left.parts[part], lower = right.parts[part], top = beside[j].parts[both - part];
                const unsigned a[4] = {upper.x, lower.x, upper.y, lower.y}, b[2] = {top.x, top.y};
                mma_m16n8k16_bf16(sums[j], a, b, sums[j]);
            }
}

/* Entry (i, k) of a factor, 0 behind its sides. */
static __device__ inline float entry_of(const struct ntf_device &device, int mode, int i, int k)
{
    return i < device.sides[mode] && k < device.rank ? device.factors[mode][(size_t)i * device.rank + k] : 0;
}

/* The products of v and w that a warp multiplies. */
template <int TILES>
static __device__ inline void make_products(const struct ntf_device &device, int from,
                                            struct operand products[2][TILES][32])
{
    const int lane = threadIdx.x % 32, t_side = device.sides[2];
    for (int at = 0; at < 2 * TILES; at++) {
        const int k = from + at % TILES * SIDE + lane / 4;
        const int first = threadIdx.x / 32 * WIDTH + lane % 4 * 8 + at / TILES * 4;
        float value[4];
        for (int i = 0; i < 4; i++)
            value[i] = entry_of(device, 1, (first + i) / t_side, k) * entry_of(device, 2, (first + i) % t_side, k);
        products[at / TILES][at % TILES][lane] = split_floats(value[0], value[1], value[2], value[3]);
    }
}

/* V W, of the columns from `from` on. */
template <int TILES>
static __device__ inline void make_weights(const struct ntf_device &device, int from,
                                           struct operand weights[][TILES][32])
{
    const int rank = device.rank, lane = threadIdx.x % 32;

    for (int at = threadIdx.x / 32; at < (rank + TERM - 1) / TERM * TILES; at += blockDim.x / 32) {
        const int k = from + at % TILES * SIDE + lane / 4;
        float value[4];
        for (int i = 0; i < 4; i++) {
            const int m = at / TILES * TERM + lane % 4 * 4 + i;
            value[i] =
                m < rank && k < rank ? (float)(device.grams[1][m * rank + k] * device.grams[2][m * rank + k]) : 0;
        }
        weights[at / TILES][at % TILES][lane] = split_floats(value[0], value[1], value[2], value[3]);
    }
}

/* A thread's sample of each of 16 slices, 0 behind the last sample. The last slice stands in for those that are
 * missing. One branch on the type, so that none lies between loads, which wait together. */
static __device__ inline void load_slices(const struct image &in, int first, float ahead[SLICES])
{
    const int samples = in.width * in.channels, at = min((int)threadIdx.x, samples - 1);
    const bool inside = (int)threadIdx.x < samples;

    if (in.type == PIXEL_F32)
        for (int i = 0; i < SLICES; i++)
            ahead[i] = inside ? ((const float *)image_row(&in, min(first + i, in.height - 1)))[at] : 0;
    else
        for (int i = 0; i < SLICES; i++)
            ahead[i] = inside ? ((const uint8_t *)image_row(&in, min(first + i, in.height - 1)))[at] : 0;
}

/* They become the warp's part of shared memory. */
static __device__ inline void store_slices(const float ahead[SLICES], float slices[SLICES][WIDTH + 4])
{
    __syncwarp();
    for (int i = 0; i < SLICES; i++)
        slices[i][threadIdx.x % 32] = ahead[i];
    __syncwarp();
}

template <int TILES>
static __device__ inline void store_shares(const float sums[TILES][4], int tile, float *shares, int stride)
{
    const int lane = threadIdx.x % 32;
    for (int j = 0; j < TILES; j++) {
        float *const place = shares + lane / 4 * stride + (tile + j) * SIDE + lane % 4 * 2;
        *(float2 *)place = make_float2(sums[j][0], sums[j][1]);
        *(float2 *)(place + 8 * stride) = make_float2(sums[j][2], sums[j][3]);
    }
}

/* The warp's shares of the numerators of 16 rows of u. */
template <int TILES>
static __device__ inline void multiply_slices(const float slices[SLICES][WIDTH + 4],
                                              const struct operand products[2][TILES][32],
                                              float shares[SLICES][SIDE * TILES + 8])
{
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    float sums[TILES][4] = {};
    for (int s = 0; s < 2; s++) {
        const float4 above = *(const float4 *)&slices[group][member * 8 + s * 4];
        const float4 below = *(const float4 *)&slices[group + 8][member * 8 + s * 4];
        struct operand beside[TILES];
        for (int j = 0; j < TILES; j++)
            beside[j] = products[s][j][threadIdx.x % 32];
        multiply_tiles<TILES>(sums, split_floats(above.x, above.y, above.z, above.w),
                              split_floats(below.x, below.y, below.z, below.w), beside);
    }
    store_shares<TILES>(sums, 0, shares[0], SIDE * TILES + 8);
}

/* Old rows of u times V W, shared among warps: a warp has 16 terms of each sum, in 8 columns. */
template <int TILES>
static __device__ inline void multiply_old(const struct ntf_device &device, int first, struct room<TILES> &own)
{
    const int lane = threadIdx.x % 32;

    for (int at = threadIdx.x / 32; at < (device.rank + TERM - 1) / TERM * TILES; at += blockDim.x / 32) {
        const int m = at / TILES * TERM + lane % 4 * 4, tile = at % TILES;
        float sums[1][4] = {}, value[2][4];
        for (int i = 0; i < 8; i++)
            value[i / 4][i % 4] = entry_of(device, 0, first + lane / 4 + i / 4 * 8, m + i % 4);
        multiply_tiles<1>(sums, split_floats(value[0][0], value[0][1], value[0][2], value[0][3]),
                          split_floats(value[1][0], value[1][1], value[1][2], value[1][3]),
                          &own.weights[at / TILES][tile][lane]);
        store_shares<1>(sums, tile, own.shares[WARPS + at / TILES][0], SIDE * TILES + 8);
    }
}

/* Entry (row, column) of u in its place among the operands. */
template <int TILES>
static __device__ inline void store_row(float value, int row, int column, struct operand rows[TILES][32])
{
    uint16_t *const place = (uint16_t *)&rows[column / SIDE][column % SIDE * 4 + row % 4] + row / 4;

    for (int part = 0; part < 3; part++) {
        const unsigned own = pack_bf16(value, 0) & 0xffff;
        place[part * 4] = (uint16_t)own;
        value -= __uint_as_float(own << 16);
    }
}

/* The first of a lane's four samples: 8 lanes of 4 bytes each reach all banks. */
static __device__ inline int sample_of(int group)
{
    return group % 2 * 16 + group / 2 * 4;
}

/* Adds the slices' transpose times u to P. The sums of a round begin at 0 and are added by ordinary arithmetic, for
 * the tensor cores cut off what is below a sum's last bit, always downwards. */
template <int TILES>
static __device__ inline void add_slices(float sum[2][TILES][4], const float slices[SLICES][WIDTH + 4],
                                         const struct operand rows[TILES][32])
{
    const int lane = threadIdx.x % 32;
    float four[4][4];
    for (int i = 0; i < 4; i++)
        *(float4 *)four[i] = *(const float4 *)&slices[lane % 4 + 4 * i][sample_of(lane / 4)];
    for (int half = 0; half < 2; half++) {
        const int x = 2 * half, y = x + 1;
        const struct operand left = split_floats(four[0][x], four[1][x], four[2][x], four[3][x]);
        const struct operand right = split_floats(four[0][y], four[1][y], four[2][y], four[3][y]);
        for (int j = 0; j < TILES; j += 2) {
            float fresh[2][4] = {};
            const struct operand beside[2] = {rows[j][lane], rows[j + 1][lane]};
            multiply_tiles<2>(fresh, left, right, beside);
            for (int k = 0; k < 8; k++)
                sum[half][j + k / 4][k % 4] += fresh[k / 4][k % 4];
        }
    }
}

/* Adds the sums of all blocks, 16 columns at a time through the warp's part of shared memory. */
template <int TILES>
static __device__ inline void add_sums(const float sum[2][TILES][4], float staged[SLICES][WIDTH + 4], int from,
                                       int rank, int samples, float *sums)
{
    const int lane = threadIdx.x % 32, at = threadIdx.x;
    for (int j = 0; j < TILES; j += 2) {
        __syncwarp();
        for (int k = 0; k < 16; k++) /* half, tile, entry */
            staged[k / 4 % 2 * SIDE + lane % 4 * 2 + k % 2][sample_of(lane / 4) + k / 8 * 2 + k / 2 % 2] =
                sum[k / 8][j + k / 4 % 2][k % 4];
        __syncwarp();
        for (int c = 0; c < 2 * SIDE; c++) {
            const int own = (c + blockIdx.x) % (2 * SIDE), k = from + j * SIDE + own; /* blocks begin elsewhere */
            if (at < samples && k < rank)
                atomicAdd(&sums[(size_t)k * samples + at], staged[own][lane]);
        }
    }
}

#endif
