/*
 * outputs.h: all outputs of an algorithm at once. Each function takes arrays of ALGORITHM_MAX_OUTPUTS images; an absent
 * slot has width 0 and no data, and is passed over.
 */
#ifndef RUNGS_OUTPUTS_H
#define RUNGS_OUTPUTS_H

#include "common/contract/algorithm.h"

/* New images of these shapes; on failure all are zeroed. */
enum status outputs_create_like(struct image to[], const struct image like[]);
void outputs_free(struct image outputs[]);
void outputs_copy(struct image to[], const struct image from[]);
void outputs_fill(struct image outputs[], uint8_t byte);
/* Every sample of every slot, to the bit. */
bool outputs_same(const struct image a[], const struct image b[]);
/* The same, but that floats may differ by 1e-5 of the largest sample of their slot: threads that add up their shares in
 * the order in which they end round differently in each call (f32 sums of a million samples by some 1e-6), and a lost
 * share is larger. */
bool outputs_same_but_rounding(const struct image a[], const struct image b[]);
/* Whether some slot is the same in both, to the bit. */
bool outputs_any_same(const struct image a[], const struct image b[]);
bool outputs_same_shape(const struct image a[], const struct image b[]);
/* Samples of all slots. */
size_t outputs_samples(const struct image outputs[]);

#endif
