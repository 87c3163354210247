/*
 * bins.h: the points in the order of their bins, by counting, prefix sum and scattering (Jošth 2014, section 4.2).
 */
#ifndef RUNGS_HOUGH_STEPS_BINS_H
#define RUNGS_HOUGH_STEPS_BINS_H

#include "cuda/hough/steps/points.h"

struct bins_step {
    unsigned *starts; /* theta_steps + 1: where each bin begins, and behind the last one */
    unsigned *counts; /* theta_steps: how many; then where the next point goes */
    struct points_item *items;
};

/* Allocates what is not there yet; nothing where all points vote for all rows. */
enum status bins_setup(struct bins_step *step, const struct image *in, const struct hough_params *params);
enum status bins_launch(struct bins_step *step, const struct points_step *points, const struct hough_params *params,
                        cudaStream_t stream);
void bins_teardown(struct bins_step *step);

#endif
