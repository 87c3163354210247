/*
 * pclines.h: what the versions of pclines share on the device: the accumulator, and the way from there to the table of
 * lines, most of which is hough's (cuda/hough/shared/lines.h). How points vote is a version's own.
 */
#ifndef RUNGS_PCLINES_STEPS_PCLINES_H
#define RUNGS_PCLINES_STEPS_PCLINES_H

#include "common/algo/pclines.h"
#include "cuda/hough/shared/lines.h"

struct pclines_step {
    struct lines_step lines;
    struct pclines_row *rows; /* of the accumulator */
};

/* Allocates and fills what these parameters need and is not there yet. */
enum status pclines_setup(struct pclines_step *step, const struct image *in, const struct pclines_params *params);
/* Accumulator to table; nothing with outputs=accumulator. */
enum status pclines_launch(struct pclines_step *step, const struct image *in, const struct image out[],
                           const struct pclines_params *params, cudaStream_t stream);
/* Its last part: sorts the lines found and writes the table. */
enum status pclines_write(struct pclines_step *step, const struct image *in, const struct image out[],
                          const struct pclines_params *params, cudaStream_t stream);
void pclines_teardown(struct pclines_step *step);

#endif
