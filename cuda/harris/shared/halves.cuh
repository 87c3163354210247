/*
 * halves.cuh: the gradients and sums of v2.17 of harris, in numbers of 16 and of 32 bits that are exact, for the rungs above it.
 *
 * A half below 2^-14 is an integer in units of 2^-24: its bits are that integer up to 1023, and what halves add and take away of
 * numbers up to 2047 is exact. So pixels are halves as they are. A float holds 24 bits, enough for a sum of products down a column.
 */
#ifndef RUNGS_HARRIS_HALVES_CUH
#define RUNGS_HARRIS_HALVES_CUH

#include <cuda_fp16.h>

#include "cuda/harris/shared/doubles.cuh"

enum { COLUMNS = 4 /* of a thread: a word of pixels */, STRIP = (32 - 2) * COLUMNS /* that a warp gives */ };

/* Of a thread's columns in one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the
 * pixel alone. Columns 0 and 2 are one pair, 1 and 3 the other. */
struct halves {
    __half2 difference[2];
    unsigned sum[2];
};

/* A gradient, in units of 2^-24. */
struct slope {
    float x, y;
};

/* Sums of gx^2, gx gy and gy^2, in units of 2^-48. */
struct column_sums {
    float a, b, c;
};

/* The same as integers, with what start() has brought for each. */
struct words {
    unsigned a, b, c;
};

static __device__ inline __half2 as_halves(unsigned bits)
{
    __half2 halves;

    memcpy(&halves, &bits, sizeof(halves));
    return halves;
}

template <bool SOBEL> static __device__ struct halves make_halves(unsigned word)
{
    const unsigned even = word & 0x00ff00ff, odd = __byte_perm(word, 0, 0x4341), both = even + odd;
    const unsigned left = __byte_perm(__shfl_up_sync(0xffffffff, odd, 1), odd, 0x5432);
    const unsigned right = __byte_perm(even, __shfl_down_sync(0xffffffff, even, 1), 0x5432);

    return {{__hsub2(as_halves(odd), as_halves(left)), __hsub2(as_halves(right), as_halves(even))},
            {SOBEL ? left + even + both : even, SOBEL ? both + odd + right : odd}};
}

/* What sums down a column begin with. Up to a window of 3 it is 2^23 units, and half as much again where the sum may be negative:
 * then the float's lowest 23 bits are the sum, and its bits can be added as integers. */
template <int SIZE> static __device__ struct column_sums start()
{
    return SIZE > 3 ? column_sums{0, 0, 0} : column_sums{0x1p-25f, 0x3p-26f, 0x1p-25f};
}

static __device__ inline struct column_sums add(struct column_sums sums, float weight, struct slope slope)
{
    return {fmaf(weight * slope.x, slope.x, sums.a), fmaf(weight * slope.x, slope.y, sums.b),
            fmaf(weight * slope.y, slope.y, sums.c)};
}

/* Of column i, over `SIZE` rows from `from` on, 0 or 1. A box begins with the rows that both have in common, which are then
 * added but once. */
template <int SIZE, bool BOX>
static __device__ struct words sum_down(const struct harris_params &params,
                                        const struct slope slopes[SIZE + 1][COLUMNS], int from, int i)
{
    struct column_sums sums = start<SIZE>();

    for (int row = 1; row < SIZE; row++)
        sums = add(sums, BOX ? 1 : params.taps[row - from], slopes[row][i]);
    sums = add(sums, BOX ? 1 : params.taps[from * (SIZE - 1)], slopes[from * SIZE][i]);
    if (SIZE > 3)
        return {(unsigned)(int)(sums.a * 0x1p48f), (unsigned)(int)(sums.b * 0x1p48f),
                (unsigned)(int)(sums.c * 0x1p48f)};
    return {__float_as_uint(sums.a), __float_as_uint(sums.b), __float_as_uint(sums.c)};
}

static __device__ inline struct words weigh(struct words sums, int weight, struct words more)
{
    return {sums.a + weight * more.a, sums.b + weight * more.b, sums.c + weight * more.c};
}

/* The sums over the windows of a thread's columns, from those down the columns; what is beside them its neighbours have. */
template <int SIZE, bool BOX>
static __device__ void sum_words_along(const struct harris_params &params, struct words down[4 + SIZE / 2 * 2],
                                       struct words sums[4])
{
    constexpr int REACH = SIZE / 2;

    for (int i = 0; i < REACH; i++) {
        const struct words left = down[4 + i], right = down[REACH + i];
        down[REACH + 4 + i] = {__shfl_down_sync(0xffffffff, right.a, 1), __shfl_down_sync(0xffffffff, right.b, 1),
                               __shfl_down_sync(0xffffffff, right.c, 1)};
        down[i] = {__shfl_up_sync(0xffffffff, left.a, 1), __shfl_up_sync(0xffffffff, left.b, 1),
                   __shfl_up_sync(0xffffffff, left.c, 1)};
    }
    for (int i = 0; i < 4; i++) {
        sums[i] = {0, 0, 0};
        for (int j = 0; j < SIZE; j++)
            sums[i] = weigh(sums[i], BOX ? 1 : params.taps[j], down[i + j]);
    }
}

/* harris_response() of sums along the row of what sum_down() gives. */
template <int SIZE, bool BOX>
static __device__ float respond_words(const struct harris_params &params, struct words sums)
{
    constexpr unsigned HIGH = 0x43300000; /* with a number below it, 2^52 more than that */
    constexpr unsigned WEIGHT = BOX ? SIZE : 1 << (SIZE - 1), PLAIN = WEIGHT * 0x33000000u, HALF = WEIGHT * 0x33400000u;

    if constexpr (SIZE > 3)
        return respond<SIZE, BOX>(params, {(int)sums.a, (int)sums.b, (int)sums.c});
    const double a = __hiloint2double(HIGH, (int)sums.a) - (0x1p52 + PLAIN);
    const double b = __hiloint2double(HIGH, (int)sums.b) - (0x1p52 + HALF);
    const double c = __hiloint2double(HIGH, (int)sums.c) - (0x1p52 + PLAIN), trace = a + c;
    const float response = (float)fma(-params.k, trace * trace, a * c - b * b) * params.scale;

    return SIZE == 1 && params.window == HARRIS_NONE ? fabsf(response) : response; /* a window is larger */
}

#endif
