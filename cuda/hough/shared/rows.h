/*
 * rows.h: what v2.0 and the versions above it, which count whole rows in shared memory, have in common.
 */
#ifndef RUNGS_HOUGH_STEPS_ROWS_H
#define RUNGS_HOUGH_STEPS_ROWS_H

#include "cuda/hough/shared/lines.h"
#include "cuda/hough/shared/points.h"

enum { ROWS_MOST_SHARED = 227 << 10 };

/* Counters of `count` rows, each as long as the reach of a picture, and one for rounding. */
static inline size_t rows_counter_bytes(const struct lines_step *lines, int count)
{
    return (size_t)count * (lines->space.reach + 2) * sizeof(int);
}

/* The least offset of a row, which a corner of the picture has. */
static inline __device__ int rows_least_offset(struct hough_angle angle, int width, int height)
{
    const int right = hough_offset(width - 1, 0, angle), below = hough_offset(0, height - 1, angle);

    return min(min(0, right), min(below, hough_offset(width - 1, height - 1, angle)));
}

/* How many of the slices of the points a picture needs: few pixels have few points. */
unsigned rows_slices(const struct image *in, int slices);

/* Votes in global memory, for pictures whose rows do not fit in shared memory. */
enum status rows_vote_globally(const struct lines_step *lines, const struct points_step *points,
                               const struct image *accumulator, const struct hough_params *params, unsigned slices,
                               cudaStream_t stream);

#endif
