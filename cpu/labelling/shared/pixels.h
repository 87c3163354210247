/*
 * pixels.h: the neighbours of a pixel, for the rungs that go pixel by pixel.
 */
#ifndef RUNGS_LABELLING_STEPS_PIXELS_H
#define RUNGS_LABELLING_STEPS_PIXELS_H

#include "common/algo/labelling.h"

/* The neighbours of a pixel before it in raster order; connectivity 4 takes the first two. */
static const int before_x[4] = {-1, 0, -1, 1}, before_y[4] = {0, -1, -1, -1};

/* Outside the image there is no foreground. */
static inline bool is_foreground(const struct image *in, int x, int y)
{
    return x >= 0 && y >= 0 && x < in->width && y < in->height && ((const uint8_t *)image_row(in, y))[x];
}

#endif
