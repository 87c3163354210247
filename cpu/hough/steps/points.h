/*
 * points.h: the edge points of a picture as a list, what the rungs above cpu/omp begin with.
 */
#ifndef RUNGS_HOUGH_STEPS_POINTS_H
#define RUNGS_HOUGH_STEPS_POINTS_H

#include "common/algo/hough.h"

/* In raster order. x and y are whole numbers, in floats because they are multiplied with floats. */
struct points {
    size_t count, capacity;
    float *x, *y;
    uint16_t *bins; /* of edges=sobel */
};

/* Finds the points, on all threads. The list's memory is there for the next call. */
enum status points_find(const struct image *in, const struct hough_params *params,
                        const struct hough_direction *directions, struct points *points);
void points_free(struct points *points);

#endif
