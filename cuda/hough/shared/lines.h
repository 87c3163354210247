/*
 * lines.h: what the versions of hough share on the device: tables of angles, the accumulator, and the way from there to
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
    /* Found lines: how many; and of each number of votes how many, how many that have more, and how many placed. */
    unsigned *count, *votes, *first, *placed;
    uint64_t *keys, *sorted; /* in no order; by votes */
};

/* Allocates and fills what these parameters need and is not there yet. */
enum status lines_setup(struct lines_step *step, const struct image *in, const struct hough_params *params);
/* Parts of it: what a space of any kind needs that step->space describes; what the lines in it need to be sorted. */
enum status lines_allocate(struct lines_step *step, const struct image *in, const struct hough_params *params);
enum status lines_sort_setup(struct lines_step *step, const struct image *in, const struct hough_params *params);
/* out[1], or the image that takes its place. */
struct image lines_accumulator(const struct lines_step *step, const struct image out[]);
/* Sets the accumulator to 0. */
enum status lines_clear(struct lines_step *step, const struct image out[], cudaStream_t stream);
/* Accumulator to table; nothing with outputs=accumulator. */
enum status lines_launch(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream);
/* Its parts, each of which does nothing with outputs=accumulator: clear the counters; search the accumulator; sort
 * what was found, for lines_row(); lines_sort() and write the table. */
enum status lines_begin(struct lines_step *step, cudaStream_t stream);
enum status lines_search(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream);
enum status lines_sort(struct lines_step *step, const struct hough_params *params, cudaStream_t stream);
enum status lines_end(struct lines_step *step, const struct image out[], const struct hough_params *params,
                      cudaStream_t stream);
void lines_teardown(struct lines_step *step);

/* A thread has found a line. */
static __device__ inline void lines_found(const struct lines_step &step, int n, int r, int votes)
{
    step.keys[atomicAdd(step.count, 1u)] = hough_key(step.space, n, r, votes);
    atomicAdd(&step.votes[votes], 1u);
}

/* How many lines come before one of those found, up to `maximum`: those with more votes, and of those with as many the
 * ones with a greater key. */
static __device__ inline unsigned lines_row(const struct lines_step &step, uint64_t key, unsigned maximum)
{
    const unsigned votes = (unsigned)(key >> 32), first = step.first[votes], last = first + step.votes[votes];
    unsigned row = first;

    for (unsigned k = first; first < maximum && k < last; k++)
        row += step.sorted[k] > key;
    return row;
}

#endif
