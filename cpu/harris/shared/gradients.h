/*
 * gradients.h: the gradients of a row, as 16-bit numbers: what the rungs of harris from cpu/simd on share.
 */
#ifndef RUNGS_HARRIS_GRADIENTS_H
#define RUNGS_HARRIS_GRADIENTS_H

#include "common/algo/harris.h"

/* Gradients of row y from column -(size / 2) on, those outside the picture reflected as their products are: gx in
 * `row`, gy `length` numbers behind. `lines` are two of `length` numbers: 1 2 1 and -1 0 1 down each column. */
void make_gradients(const struct image *in, int y, const struct harris_params *params, int16_t *row, size_t length,
                    int16_t *lines);

#endif
