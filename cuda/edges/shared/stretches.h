/*
 * stretches.h: what the versions of edges share that read a mask 32 pixels at a time: a thread has a stretch of a row, which lies in
 * two loads, and what it holds as a word of bits. Stretches in order are pixels in raster order.
 */
#ifndef RUNGS_EDGES_STEPS_STRETCHES_H
#define RUNGS_EDGES_STEPS_STRETCHES_H

#include "cuda/edges/shared/edges.h"

enum { STRETCH = 32 };

static inline HOST_DEVICE unsigned stretches_of_row(int width)
{
    return ((unsigned)width + STRETCH - 1) / STRETCH;
}

/* Blocks that have all stretches of a picture. */
static inline unsigned stretches_blocks(const struct image *in, unsigned threads)
{
    return (stretches_of_row(in->width) * (unsigned)in->height + threads - 1) / threads;
}

/* Bit i is pixel x + i of row y. */
struct stretch {
    int x, y;
    unsigned points;
};

/* Stretch number `own`; behind the last row it has no points. The last one of a row whose width is no multiple of 32 is read byte
 * by byte: what lies behind the last pixel of an output is its owner's. */
static inline __device__ struct stretch stretch_read(const struct image &mask, unsigned own)
{
    const unsigned columns = stretches_of_row(mask.width);
    struct stretch stretch = {(int)(own % columns) * STRETCH, (int)(own / columns), 0};

    if (stretch.y >= mask.height)
        return stretch;
    const uint8_t *pixels = (const uint8_t *)image_row(&mask, stretch.y) + stretch.x;
    if (mask.width - stretch.x < STRETCH) {
        for (int i = 0; i < mask.width - stretch.x; i++)
            stretch.points |= (unsigned)(pixels[i] >> 7) << i;
        return stretch;
    }
    for (int i = 0; i < 2; i++) {
        const uint4 words = ((const uint4 *)pixels)[i];
        const unsigned four[] = {words.x, words.y, words.z, words.w};
        for (int k = 0; k < 4; k++) /* the upper bits of four bytes, moved side by side: EDGES_STRONG alone has one */
            stretch.points |= ((four[k] & 0x80808080u) * 0x204081u >> 28) << 4 * (4 * i + k);
    }
    return stretch;
}

/* Of a warp's values: those up to the lane's own, and all. */
static inline __device__ unsigned warp_sum_up_to(unsigned value)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffff, value, distance);
        value += (int)(threadIdx.x % 32) >= distance ? other : 0;
    }
    return value;
}

static inline __device__ unsigned warp_sum(unsigned value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

/* Row `row` of the table is pixel x, y, if it has so many rows. */
static inline __device__ void stretch_write(const struct image &in, const struct image &points, int x, int y,
                                            unsigned row)
{
    if (row >= (unsigned)points.height)
        return;
    const struct hough_gradient g = hough_sobel(&in, x, y);
    *(int4 *)image_row(&points, (int)row) = make_int4(x, y, g.x, g.y);
}

#endif
