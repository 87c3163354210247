/*
 * walk.cuh: what the kernels of harris share in which a warp walks down the picture.
 */
#ifndef RUNGS_HARRIS_WALK_CUH
#define RUNGS_HARRIS_WALK_CUH

#include "common/algo/harris.h"
#include "common/cuda/device.h"

static __device__ inline struct harris_sums weigh(struct harris_sums sums, int weight, struct harris_sums more)
{
    return {sums.a + weight * more.a, sums.b + weight * more.b, sums.c + weight * more.c};
}

/* The sums of another lane of the warp. */
static __device__ inline struct harris_sums sums_of(int lane, struct harris_sums sums)
{
    return {__shfl_sync(0xffffffff, sums.a, lane), __shfl_sync(0xffffffff, sums.b, lane),
            __shfl_sync(0xffffffff, sums.c, lane)};
}

/* -1 for an odd number of reflections on the way from i to a pixel inside, 1 for an even one. */
static __device__ inline int reflected_sign(int i, int n)
{
    int sign = 1;

    for (; n > 1 && (i < 0 || i >= n); sign = -sign)
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return sign;
}

/* Of kernels whose window is a template argument. */
static inline const char *walk_declines(const struct image in[], const void *params)
{
    const int size = ((const struct harris_params *)params)->size;

    (void)in;
    return size % 2 == 0 || size > 7 ? "windows of 1, 3, 5 and 7 pixels alone; cuda/v1.3 takes any" : NULL;
}

#endif
