/*
 * tiles.h: the edge points of each tile of a picture as a list of its own, in device memory: what v2.4 and the versions above
 * it begin with.
 */
#ifndef RUNGS_HOUGH_STEPS_TILES_H
#define RUNGS_HOUGH_STEPS_TILES_H

#include "cuda/hough/steps/lines.h"

enum { TILES_LANES = 32 /* rows of the accumulator that a warp counts for */, TILES_MOST_SHARED = 64 << 10 };

struct tiles_step {
    int side, across, down; /* of a tile in pixels; how many there are */
    int cells;              /* of a row that the points of a tile vote for, at most */
    unsigned *counts;       /* of each tile, how many points */
    float2 *points;         /* those of tile t from place t * side * side on, in no order */
    unsigned *bins;         /* the rows that their gradients point to; NULL where all points vote for all rows */
};

/* Allocates what is not there yet. `side`: of a tile, a power of two from 32 on; less where its counters do not fit. */
enum status tiles_setup(struct tiles_step *step, const struct image *in, const struct hough_params *params, int side);
/* Makes the lists. */
enum status tiles_launch(struct tiles_step *step, const struct image *in, const struct lines_step *lines,
                         const struct hough_params *params, cudaStream_t stream);
/* The same, and what lines_clear() and lines_begin() do. */
enum status tiles_launch_and_clear(struct tiles_step *step, const struct image *in, const struct lines_step *lines,
                                   struct image accumulator, const struct hough_params *params, cudaStream_t stream);
void tiles_teardown(struct tiles_step *step);

/* The tile of a block of tiles_grid(). */
struct tile {
    int left, top, count;
    const float2 *points; /* at an address of 16 bytes */
    const unsigned *bins;
};

static inline __device__ struct tile tiles_own(const struct tiles_step &step)
{
    const int index = blockIdx.y * step.across + blockIdx.x;
    const size_t place = (size_t)index * step.side * step.side;

    return {(int)blockIdx.x * step.side, (int)blockIdx.y * step.side, (int)step.counts[index], step.points + place,
            step.bins ? step.bins + place : NULL};
}

/* The least offset in a row of the points of a tile, which one of its corners has. */
static inline __device__ int tiles_least_offset(const struct tiles_step &step, const struct tile &tile,
                                                struct hough_angle angle)
{
    const int right = tile.left + step.side - 1, bottom = tile.top + step.side - 1;

    return min(min(hough_offset(tile.left, tile.top, angle), hough_offset(right, tile.top, angle)),
               min(hough_offset(tile.left, bottom, angle), hough_offset(right, bottom, angle)));
}

static inline size_t tiles_counter_bytes(const struct tiles_step *step)
{
    return (size_t)step->cells * TILES_LANES * sizeof(int);
}

/* A block for each tile and TILES_LANES rows. */
static inline dim3 tiles_grid(const struct tiles_step *step, const struct hough_params *params)
{
    return dim3((unsigned)step->across, (unsigned)step->down, ceiling_divide(params->theta_steps, TILES_LANES));
}

#endif
