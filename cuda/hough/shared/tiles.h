/*
 * tiles.h: the edge points of each tile of a picture as a list of its own in device memory, for v1.2 and the rungs
 * above it.
 */
#ifndef RUNGS_HOUGH_STEPS_TILES_H
#define RUNGS_HOUGH_STEPS_TILES_H

#include "common/algo/hough.h"
#include "common/cuda/device.h"

enum { TILES_SIDE = 64 /* of a tile, in pixels */ };

struct tiles_step {
    int count;        /* of tiles */
    unsigned *counts; /* of each tile, how many points */
    float2 *points;   /* those of tile i from place i * TILES_SIDE * TILES_SIDE on, in no order */
    unsigned *bins;   /* the rows that their gradients point to; NULL where all points vote for all rows */
};

/* A tile's points. */
struct tiles_list {
    int count;
    const float2 *points; /* at an address of 16 bytes */
    const unsigned *bins;
};

/* Allocates what is not there yet. */
enum status tiles_setup(struct tiles_step *step, const struct image *in, const struct hough_params *params);
/* Makes the lists, and sets the accumulator to 0. */
enum status tiles_launch(struct tiles_step *step, const struct image *in, const struct hough_direction *directions,
                         const struct hough_params *params, struct image accumulator, cudaStream_t stream);
void tiles_teardown(struct tiles_step *step);

static __device__ inline struct tiles_list tiles_list_of(const struct tiles_step &step, int tile)
{
    const size_t place = (size_t)tile * TILES_SIDE * TILES_SIDE;

    return {(int)step.counts[tile], step.points + place, step.bins ? step.bins + place : NULL};
}

#endif
