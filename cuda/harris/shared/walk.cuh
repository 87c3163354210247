/*
 * walk.cuh: what the kernels of harris that walk down the picture have in common besides their idea.
 */
#ifndef RUNGS_HARRIS_WALK_CUH
#define RUNGS_HARRIS_WALK_CUH

#include "common/algo/harris.h"
#include "common/cuda/device.h"

static __device__ inline struct harris_sums weigh(struct harris_sums sums, int weight, struct harris_sums more)
{
    return {sums.a + weight * more.a, sums.b + weight * more.b, sums.c + weight * more.c};
}

/* The sums of another thread of the warp. */
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

/* The 4 pixels of row y from x on, a multiple of 4; one by one where an edge is near, for they may be reflected ones. */
static __device__ inline unsigned load(const struct image &in, int x, int y, bool edge)
{
    const uint8_t *row = (const uint8_t *)image_row(&in, harris_reflect(y, in.height));
    unsigned word = 0;

    if (!edge)
        return *(const unsigned *)(row + x);
    for (int i = 0; i < 4; i++)
        word |= (unsigned)row[harris_reflect(x + i, in.width)] << 8 * i;
    return word;
}

/* Writes the responses of 4 columns from x on, those inside the picture. */
static __device__ inline void store(const struct image &out, int x, int y, const float responses[4])
{
    float *to = (float *)image_row(&out, y) + x;

    if (x + 4 <= out.width)
        *(float4 *)to = make_float4(responses[0], responses[1], responses[2], responses[3]);
    else
        for (int i = 0; x + i < out.width; i++)
            to[i] = responses[i];
}

/* Of the kernels, whose window is a template argument. */
static inline const char *walk_declines(const struct image in[], const void *params)
{
    const int size = ((const struct harris_params *)params)->size;

    (void)in;
    return size % 2 == 0 || size > 7 ? "windows of 1, 3, 5 and 7 pixels alone; cuda/v1.3 takes any" : NULL;
}

#endif
