/*
 * gradients.h: Sobel's gradients of a row, which of its pixels are edge points, and the bins of these.
 */
#ifndef RUNGS_HOUGH_STEPS_GRADIENTS_H
#define RUNGS_HOUGH_STEPS_GRADIENTS_H

#include "cpu/hough/shared/points.h"

/* What a thread needs for a row. */
struct gradients {
    int16_t *x, *y;
    uint8_t *mask; /* 1 for an edge point */
};

/* Of row y. */
void gradients_find(const struct image *in, int y, int edge, const struct gradients *out);
/* The bins of points first to last - 1, all of that row. */
void gradients_bins(const struct gradients *gradients, struct points *points, size_t first, size_t last,
                    const struct hough_params *params, const struct hough_direction *directions);

#endif
