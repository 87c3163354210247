/*
 * tiles.h: the edge points of each tile of a picture as lists of its own, in device memory: what v2.4 and the versions above
 * it begin with.
 */
#ifndef RUNGS_HOUGH_STEPS_TILES_H
#define RUNGS_HOUGH_STEPS_TILES_H

#include "cuda/hough/shared/lines.h"

enum {
    TILES_LANES = 32, /* rows of the accumulator that a warp counts for */
    TILES_PART = 64,  /* pixels of a side that have a list */
    TILES_MOST_SHARED = 224 << 10
};

struct tiles_step {
    int side, across, down; /* of a tile in pixels; how many there are */
    int parts;              /* of a tile */
    int groups;             /* of TILES_LANES rows that a block counts for */
    int cells;              /* of a row that the points of a tile vote for, at most */
    unsigned *counts;       /* of each part of each tile, how many points */
    float2 *points;         /* those of part i from place i * TILES_PART * TILES_PART on, in no order */
    unsigned *bins;         /* the rows that their gradients point to; NULL where all points vote for all rows */
};

/* Allocates what is not there yet. `side`: of a tile, a power of two from TILES_PART on; less where its counters do not fit. */
enum status tiles_setup(struct tiles_step *step, const struct image *in, const struct hough_params *params, int side,
                        int groups);
/* Makes the lists. */
enum status tiles_launch(struct tiles_step *step, const struct image *in, const struct lines_step *lines,
                         const struct hough_params *params, cudaStream_t stream);
/* The same, and what lines_clear() and lines_begin() do. */
enum status tiles_launch_and_clear(struct tiles_step *step, const struct image *in, const struct lines_step *lines,
                                   struct image accumulator, const struct hough_params *params, cudaStream_t stream);
void tiles_teardown(struct tiles_step *step);

/* The points of a part of the tile that is this block's in tiles_grid(). */
struct tiles_list {
    int count;
    const float2 *points; /* at an address of 16 bytes */
    const unsigned *bins;
};

static inline __device__ struct tiles_list tiles_own_list(const struct tiles_step &step, int part)
{
    const int index = (blockIdx.z * step.across + blockIdx.y) * step.parts + part;
    const size_t place = (size_t)index * TILES_PART * TILES_PART;

    return {(int)step.counts[index], step.points + place, step.bins ? step.bins + place : NULL};
}

/* The least offset in a row of the points of the block's tile, which one of its corners has. */
static inline __device__ int tiles_least_offset(const struct tiles_step &step, struct hough_angle angle)
{
    const int left = blockIdx.y * step.side, right = left + step.side - 1;
    const int top = blockIdx.z * step.side, bottom = top + step.side - 1;

    return min(min(hough_offset(left, top, angle), hough_offset(right, top, angle)),
               min(hough_offset(left, bottom, angle), hough_offset(right, bottom, angle)));
}

static inline size_t tiles_counter_bytes(const struct tiles_step *step)
{
    return (size_t)step->cells * (size_t)(step->groups * TILES_LANES) * sizeof(int);
}

/* A block for each group of rows of each tile, or for some groups. Those of a tile come one after the other, so that what a
 * multiprocessor gets, every 132nd block or so, is from all over the picture. */
static inline dim3 tiles_grid(const struct tiles_step *step, const struct hough_params *params)
{
    return dim3(ceiling_divide(params->theta_steps, step->groups * TILES_LANES), (unsigned)step->across,
                (unsigned)step->down);
}

#endif
