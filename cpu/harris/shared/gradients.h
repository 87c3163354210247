/*
 * gradients.h: gradients of a part of a row, as 16-bit numbers: what the rungs of harris from cpu/along on share, as
 * cpu/rows computes them.
 */
#ifndef RUNGS_HARRIS_GRADIENTS_H
#define RUNGS_HARRIS_GRADIENTS_H

#include "common/algo/harris.h"

/* gx[0], gy[0] and on: along x and y in columns left to right - 1 of row y. Outside the picture stand those of the columns
 * that the products are reflected from, which must be among the columns asked for. */
void make_gradients(const struct image *in, const struct harris_params *params, int y, int left, int right, int16_t *gx,
                    int16_t *gy);

#endif
