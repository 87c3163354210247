/*
 * bins.h: the points in the order of their bins, by counting, prefix sum and scattering (Jošth 2014, section 4.2).
 */
#ifndef RUNGS_HOUGH_STEPS_BINS_H
#define RUNGS_HOUGH_STEPS_BINS_H

#include "cuda/hough/shared/points.h"

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

/* What votes for rows first to last: places of the list, the second stretch where the bins go round. */
struct stretches {
    unsigned begin[2], end[2];
};

static inline __device__ struct stretches find_stretches(const unsigned *starts, const struct hough_params &params,
                                                         int first, int last)
{
    const int bins = params.theta_steps, low = first - params.half_width, high = last + params.half_width;
    struct stretches s = {{starts[max(low, 0)], 0}, {starts[min(high + 1, bins)], 0}};

    if (high - low + 1 >= bins)
        return {{0, 0}, {starts[bins], 0}};
    if (low < 0) {
        s.begin[1] = starts[low + bins];
        s.end[1] = starts[bins];
    } else if (high >= bins) {
        s.end[1] = starts[high + 1 - bins];
    }
    return s;
}

#endif
