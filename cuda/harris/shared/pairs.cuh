/*
 * pairs.cuh: four columns a lane, two of them in a register: what the kernels of harris share from v2.1 on.
 */
#ifndef RUNGS_HARRIS_PAIRS_CUH
#define RUNGS_HARRIS_PAIRS_CUH

#include "cuda/harris/shared/walk.cuh"

enum { COLUMNS = 4 /* of a lane: a word of pixels */, STRIP = (32 - 2) * COLUMNS /* columns that a warp computes */ };
enum { ADDEND = 1 << 20 /* above any |gx gy| */ };

/* Of a lane's columns in one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the
 * pixel alone. Columns 0 and 2 are one pair, 1 and 3 the other; a pair is low + 65536 high, where low may be
 * negative. */
struct pairs {
    unsigned difference[2], sum[2];
};

/*     word of the lane to the left |  3  2  1  0 |  3  2  1  0 |  3  2  1  0 | word of the lane to the right
 *                                         even:      2     0        pairs of 16 bits, with 0 above each pixel
 *                                         odd:    3     1
 *                                         left:      1    -1        the left neighbours of even
 *                                         right:     4     2        the right neighbours of odd */
template <bool SOBEL> static __device__ struct pairs make_pairs(unsigned word)
{
    const unsigned even = word & 0x00ff00ff, odd = __byte_perm(word, 0, 0x4341), both = even + odd;
    const unsigned left = __byte_perm(__shfl_up_sync(0xffffffff, odd, 1), odd, 0x5432);
    const unsigned right = __byte_perm(even, __shfl_down_sync(0xffffffff, even, 1), 0x5432);

    return {{odd - left, right - even}, {SOBEL ? left + even + both : even, SOBEL ? both + odd + right : odd}};
}

static __device__ inline int take(unsigned pair, int which)
{
    return which == 0 ? (int16_t)pair : (int)(pair + 0x8000) >> 16;
}

/* The sums over the windows of a lane's columns, from those down the columns; what is beside them its neighbours
 * have. */
template <int SIZE, bool BOX>
static __device__ void sum_along(const struct harris_params &params, struct harris_sums down[COLUMNS + SIZE / 2 * 2],
                                 struct harris_sums sums[COLUMNS])
{
    constexpr int REACH = SIZE / 2;

    for (int i = 0; i < REACH; i++) {
        down[REACH + COLUMNS + i] = sums_of((int)threadIdx.x + 1, down[REACH + i]);
        down[i] = sums_of((int)threadIdx.x - 1, down[COLUMNS + i]);
    }
    for (int i = 0; i < COLUMNS; i++) {
        sums[i] = {0, 0, 0};
        for (int j = 0; j < SIZE; j++)
            sums[i] = weigh(sums[i], BOX ? 1 : params.taps[j], down[i + j]);
    }
}

/* harris_response(), of a b to which each gx gy has brought an ADDEND, so that no sum is negative: a sum is the low
 * half of the double 2^52 + sum. Up to a weight of 49 doubles hold det and t exactly (harris.h). */
template <int SIZE, bool BOX>
static __device__ float respond(const struct harris_params &params, struct harris_sums sums)
{
    constexpr int WEIGHT = BOX ? SIZE * SIZE : SIZE < 5 ? 1 << 2 * (SIZE - 1) : 256, ADDED = WEIGHT * ADDEND;
    constexpr int HIGH = 0x43300000; /* the high half of 2^52 */

    if constexpr (WEIGHT > 49)
        return harris_response(&params, {sums.a, sums.b - ADDED, sums.c});
    const double a = __hiloint2double(HIGH, sums.a) - 0x1p52, c = __hiloint2double(HIGH, sums.c) - 0x1p52;
    const double b = __hiloint2double(HIGH, sums.b) - (0x1p52 + (double)ADDED), trace = a + c;
    const float response = (float)fma(-params.k, trace * trace, a * c - b * b) * params.scale;

    return SIZE == 1 && params.window == HARRIS_NONE ? fabsf(response) : response; /* a window is larger */
}

/* Blocks of `warps` warps, one below the other, and rows of a warp, a multiple of `turn`: as many warps as the device
 * holds at one time, so that none waits for another to end. */
template <typename KERNEL>
static enum status share_out(KERNEL kernel, const struct image &in, int warps, int turn, dim3 *grid, int *rows)
{
    enum status status = STATUS_OK;
    int device, multiprocessors, blocks, strips = (int)ceiling_divide(in.width, STRIP);

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, 0));
    blocks = max(multiprocessors * blocks / strips, 1);
    *rows = (int)ceiling_divide(max((int)ceiling_divide(in.height, blocks * warps), 4), turn) * turn;
    *grid = dim3(strips, ceiling_divide(in.height, *rows * warps));
out:
    return status;
}

#endif
