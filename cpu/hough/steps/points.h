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
    uint16_t *bins; /* with an orientation */
    size_t *starts; /* of a list in the order of bins: where each begins, and behind the last one */
};

/* Of a list, the points first .. first + count - 1. */
struct stretch {
    size_t first, count;
};

/* Finds the points, on all threads, each those of a band of rows; bands[t], omp_get_max_threads() of these, are where thread
 * t has left its own, with what it has not found in between. */
enum status points_find_bands(const struct image *in, const struct hough_params *params, struct points *points,
                              struct stretch *bands);
/* Finds the points, on all threads, in raster order. The list's memory is there for the next call. */
enum status points_find(const struct image *in, const struct hough_params *params, struct points *points);
/* Makes room for so many points, whatever the list held. */
enum status points_reserve(struct points *points, size_t capacity);
void points_free(struct points *points);

#endif
