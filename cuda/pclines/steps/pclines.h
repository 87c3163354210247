/*
 * pclines.h: what the versions of pclines share on the device: the accumulator, and the way from there to the table of lines,
 * most of which is hough's (cuda/hough/steps/lines.h). How points vote is a version's own.
 */
#ifndef RUNGS_PCLINES_STEPS_PCLINES_H
#define RUNGS_PCLINES_STEPS_PCLINES_H

#include "common/algo/pclines.h"
#include "cuda/hough/steps/lines.h"
#include "cuda/hough/steps/points.h"
#include "cuda/hough/steps/rows.h"

enum { PCLINES_MOST_SHARED = 227 << 10 };

struct pclines_step {
    struct lines_step lines;
    struct pclines_row *rows; /* of the accumulator */
};

/* Allocates and fills what these parameters need and is not there yet. */
enum status pclines_setup(struct pclines_step *step, const struct image *in, const struct pclines_params *params);
/* Accumulator to table; nothing with outputs=accumulator. */
enum status pclines_launch(struct pclines_step *step, const struct image out[], const struct pclines_params *params,
                           cudaStream_t stream);
/* Votes in global memory, for pictures whose rows do not fit in shared memory. */
enum status pclines_vote_globally(const struct lines_step *lines, const struct image *in,
                                  const struct points_step *points, const struct image out[],
                                  const struct pclines_params *params, unsigned slices, cudaStream_t stream);
void pclines_teardown(struct pclines_step *step);

#endif
