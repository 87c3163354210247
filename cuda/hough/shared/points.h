/*
 * points.h: the edge points of a picture as a list in device memory, in no order: what v1.2 and the versions above it begin
 * with.
 */
#ifndef RUNGS_HOUGH_STEPS_POINTS_DEVICE_H
#define RUNGS_HOUGH_STEPS_POINTS_DEVICE_H

#include "common/algo/hough.h"
#include "common/cuda/device.h"

/* x in the lower and y in the upper half; the row that the gradient points to, 0 where all rows get a vote. */
struct points_item {
    unsigned place, bin;
};

struct points_step {
    unsigned *count;
    struct points_item *items;
};

/* Allocates what is not there yet. */
enum status points_setup(struct points_step *step, const struct image *in);
/* Makes the list. */
enum status points_launch(struct points_step *step, const struct image *in, const struct hough_direction *directions,
                          const struct hough_params *params, cudaStream_t stream);
/* The same with few atomic operations on the counter of the list. */
enum status points_launch_blocks(struct points_step *step, const struct image *in,
                                 const struct hough_direction *directions, const struct hough_params *params,
                                 cudaStream_t stream);
void points_teardown(struct points_step *step);

#endif
