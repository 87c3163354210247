/*
 * blocks.cuh: blocks of 2x2 pixels, any two of whose foreground pixels touch.
 */
#ifndef RUNGS_LABELLING_STEPS_BLOCKS_CUH
#define RUNGS_LABELLING_STEPS_BLOCKS_CUH

#include "common/algo/labelling.h"
#include "cuda/labelling/shared/pixels.cuh"

/* The node of a block of 2x2 pixels is its first foreground pixel, so that the least node of a component is its label;
 * -1 when there is none. */
static inline __device__ int node_of(const struct image &in, int x, int y)
{
    for (int k = 0; k < 4; k++)
        if (is_foreground(in, x + k % 2, y + k / 2))
            return (y + k / 2) * in.width + x + k % 2;
    return -1;
}

/* Bit k: the block at (x, y) touches block k of those before it, which begin at x + before_x[k], y + before_y[k]. */
static inline __device__ int touched_blocks(const struct image &in, int x, int y)
{
    bool a = is_foreground(in, x, y), b = is_foreground(in, x + 1, y), c = is_foreground(in, x, y + 1);

    return (a && is_foreground(in, x - 1, y - 1)) |
           ((a || b) && (is_foreground(in, x, y - 1) || is_foreground(in, x + 1, y - 1))) << 1 |
           (b && is_foreground(in, x + 2, y - 1)) << 2 |
           ((a || c) && (is_foreground(in, x - 1, y) || is_foreground(in, x - 1, y + 1))) << 3;
}

/* With connectivity 4 the pixels of a block need not touch. Fits struct version's `declines`. */
static inline const char *blocks_decline(const struct image in[], const void *params)
{
    if (((const struct labelling_params *)params)->connectivity == 4)
        return "knows connectivity 8 only";
    return labelling_labels_only(in, params);
}

#endif
