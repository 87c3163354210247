/*
 * pclines.h: what the versions of pclines share on the device: the accumulator, and the way from there to the table of lines,
 * most of which is hough's (cuda/hough/shared/lines.h). How points vote is a version's own.
 */
#ifndef RUNGS_PCLINES_STEPS_PCLINES_H
#define RUNGS_PCLINES_STEPS_PCLINES_H

#include "common/algo/pclines.h"
#include "cuda/hough/shared/lines.h"
#include "cuda/hough/shared/points.h"
#include "cuda/hough/shared/rows.h"
#include "cuda/hough/shared/tiles.h"

enum { PCLINES_MOST_SHARED = 227 << 10 };

struct pclines_step {
    struct lines_step lines;
    struct pclines_row *rows; /* of the accumulator */
};

/* Allocates and fills what these parameters need and is not there yet. */
enum status pclines_setup(struct pclines_step *step, const struct image *in, const struct pclines_params *params);
/* tiles_setup() for parallel coordinates: at most so many groups of rows, and no more than one space has, if it has one. */
enum status pclines_tiles_setup(struct tiles_step *tiles, const struct image *in, const struct pclines_params *params,
                                int side, int groups);
/* Accumulator to table; nothing with outputs=accumulator. */
enum status pclines_launch(struct pclines_step *step, const struct image *in, const struct image out[],
                           const struct pclines_params *params, cudaStream_t stream);
/* Its last part, after lines_begin() and a search; not with outputs=accumulator. */
enum status pclines_end(struct pclines_step *step, const struct image *in, const struct image out[],
                        const struct pclines_params *params, cudaStream_t stream);
/* Votes in global memory, for pictures whose rows do not fit in shared memory. */
enum status pclines_vote_globally(const struct lines_step *lines, const struct image *in,
                                  const struct points_step *points, const struct image out[],
                                  const struct pclines_params *params, unsigned slices, cudaStream_t stream);
void pclines_teardown(struct pclines_step *step);

#endif
