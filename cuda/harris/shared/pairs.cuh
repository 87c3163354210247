/*
 * pairs.cuh: the gradients of v2.14 of harris, two a register, for the rungs above it.
 */
#ifndef RUNGS_HARRIS_PAIRS_CUH
#define RUNGS_HARRIS_PAIRS_CUH

#include "common/algo/harris.h"
#include "common/cuda/device.h"

enum { ADDEND = 1 << 20 /* above any |gx gy| */ };
enum { COLUMNS = 4 /* of a thread: a word of pixels */, STRIP = (32 - 2) * COLUMNS /* that a warp gives */ };

/* Of a thread's columns in one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the
 * pixel alone. Columns 0 and 2 are one pair, 1 and 3 the other; a pair is low + 65536 high, where low may be negative. */
struct pairs {
    unsigned difference[2], sum[2];
};

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

/* harris_response(), of a b to which each gx gy has brought an addend. */
template <int SIZE, bool BOX>
static __device__ float respond_added(const struct harris_params &params, struct harris_sums sums)
{
    constexpr int WEIGHT = BOX ? SIZE * SIZE : SIZE < 5 ? 1 << 2 * (SIZE - 1) : 256, ADDED = WEIGHT * ADDEND;
    constexpr int HIGH = 0x43300000; /* with a number below it, 2^52 more than that */
    const double a = __hiloint2double(HIGH, sums.a) - 0x1p52, c = __hiloint2double(HIGH, sums.c) - 0x1p52;
    const double b = __hiloint2double(HIGH, sums.b) - (0x1p52 + (double)ADDED), trace = a + c;

    if constexpr (WEIGHT > 49) /* more than doubles hold (harris.h) */
        return harris_response(&params, {sums.a, sums.b - ADDED, sums.c});
    const float response = (float)fma(-params.k, trace * trace, a * c - b * b) * params.scale;
    return SIZE == 1 && params.window == HARRIS_NONE ? fabsf(response) : response; /* a window is larger */
}

#endif
