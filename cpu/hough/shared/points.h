/*
 * points.h: the edge points of a picture as a list, which the rungs from cpu/rows on begin with.
 */
#ifndef RUNGS_HOUGH_STEPS_POINTS_H
#define RUNGS_HOUGH_STEPS_POINTS_H

#include "common/algo/hough.h"

/* A structure of arrays, for vectors. x and y are whole numbers, in floats because they are multiplied with floats. */
struct points {
    size_t count, capacity;
    float *x, *y;
    uint16_t *bins; /* the row that the gradient points to; unset where all points vote for all rows */
    size_t *starts; /* of a list sorted by bin: where each bin begins, and the end of the last */
};

/* Finds the points in raster order, on all threads, and their bins where `bins` and not all points vote for all
 * rows. The memory of the list stays for the next call. */
enum status points_find(const struct image *in, const struct hough_params *params, struct points *points, bool bins);
/* Makes room for `capacity` points, whatever the list held. */
enum status points_reserve(struct points *points, size_t capacity);
void points_free(struct points *points);

#endif
