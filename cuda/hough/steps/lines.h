/*
 * lines.h: what the versions of hough share on the device: the tables of angles, the accumulator, and the way from there to
 * the table of lines. How points vote is a version's own.
 */
#ifndef RUNGS_HOUGH_STEPS_LINES_H
#define RUNGS_HOUGH_STEPS_LINES_H

#include "common/algo/hough.h"
#include "common/cuda/device.h"

struct lines_step {
    struct hough_space space;
    int most_votes; /* that a cell can get */
    struct hough_angle *angles;
    struct hough_direction *directions;
    struct image accumulator; /* with outputs=lines: where to vote, for the caller has no such image */
    /* Found lines: how many, and of each number of votes how many, then how many that have more, then how many placed. */
    unsigned *count, *votes, *first, *placed;
    uint64_t *keys, *sorted; /* in no order; by votes */
};

/* Allocates and fills what these parameters need and is not there yet. */
enum status lines_setup(struct lines_step *step, const struct image *in, const struct hough_params *params);
/* out[1], or the image that takes its place. */
struct image lines_accumulator(const struct lines_step *step, const struct image out[]);
/* Sets the accumulator to 0. */
enum status lines_clear(struct lines_step *step, const struct image out[], cudaStream_t stream);
/* Accumulator to table; nothing with outputs=accumulator. */
enum status lines_launch(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream);
/* The last part alone: before lines are found, and from what lines_found() was told to the table. */
enum status lines_begin(struct lines_step *step, cudaStream_t stream);
enum status lines_end(struct lines_step *step, const struct image *lines, const struct hough_params *params,
                      cudaStream_t stream);
void lines_teardown(struct lines_step *step);

/* A thread has found a line. */
static inline __device__ void lines_found(const struct lines_step &step, int n, int r, int votes)
{
    step.keys[atomicAdd(step.count, 1u)] = hough_key(step.space, n, r, votes);
    atomicAdd(&step.votes[votes], 1u);
}

#endif
