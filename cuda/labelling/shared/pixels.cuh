/*
 * pixels.cuh: whether a pixel is foreground.
 */
#ifndef RUNGS_LABELLING_STEPS_PIXELS_CUH
#define RUNGS_LABELLING_STEPS_PIXELS_CUH

#include "common/cuda/device.h"

/* Outside the image there is no foreground. */
static __device__ inline bool is_foreground(const struct image &in, int x, int y)
{
    return x >= 0 && y >= 0 && x < in.width && y < in.height && ((const uint8_t *)image_row(&in, y))[x] != 0;
}

#endif
