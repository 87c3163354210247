/*
 * numbers.h: what the run-based rungs do beyond labels as in the formula, without another pass over the pixels: number
 * the components 1, 2, 3 ... in raster order of their first pixels, and gather their statistics from runs.
 */
#ifndef RUNGS_LABELLING_NUMBERS_H
#define RUNGS_LABELLING_NUMBERS_H

#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct numbers {
    int *rank;               /* device: of each root, by raster index, its number from 1 */
    int *counts;             /* device: of each block of words, the roots before it; then how many there are in all */
    struct boxes_sums *sums; /* device: of each row of the table */
};

/* Allocates what these parameters need and is not there yet. */
enum status numbers_setup(struct numbers *numbers, const struct image *in, const struct labelling_params *params);

/* Enqueues it all. `bits` are words of 32 pixels, (width + 31) / 32 a row; `parent` the finished trees, whose nodes are
 * the first pixels of each word's runs. Fills rank, and the table where statistics are asked for. */
enum status numbers_launch(struct numbers *numbers, const unsigned *bits, const int *parent, const struct image *labels,
                           struct image *table, const struct labelling_params *params, cudaStream_t stream);

void numbers_free(struct numbers *numbers);

#endif
