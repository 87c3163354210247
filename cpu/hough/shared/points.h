/*
 * points.h: the edge points of a picture as a list, what the rungs above cpu/omp begin with.
 */
#ifndef RUNGS_HOUGH_STEPS_POINTS_H
#define RUNGS_HOUGH_STEPS_POINTS_H

#include "common/algo/hough.h"

/* x and y are whole numbers, in floats because they are multiplied with floats. */
struct points {
    size_t count, capacity;
    float *x, *y;
    uint16_t *bins; /* 0 without an orientation */
    size_t *starts; /* of a list in the order of bins: where each begins, and behind the last one */
};

/* Finds the points, on all threads, in raster order. The list's memory is there for the next call. */
enum status points_find(const struct image *in, const struct hough_params *params, struct points *points);
/* Makes room for so many points, whatever the list held. */
enum status points_reserve(struct points *points, size_t capacity);
void points_free(struct points *points);

#endif
