/*
 * rows.h: what v1.0 to v1.3 do before and after all pixels have been added: a table with an entry for each possible label is
 * cleared, and the entries that are large enough become rows of the output.
 */
#ifndef RUNGS_BOXES_STEPS_ROWS_H
#define RUNGS_BOXES_STEPS_ROWS_H

#include "common/algo/boxes.h"
#include "common/cuda/device.h"

enum { BOXES_STRETCH = 256 }; /* entries of the table that a block looks at, one a thread */

/* Empties the entries of all labels and the rows of the output. */
enum status boxes_clear(struct boxes_sums *table, int labels, const struct image *out, cudaStream_t stream);
/* Each block counts the entries of its stretch that get a row, one block turns the counts into where the rows of each stretch
 * begin, and the stretches write theirs. `counts` has room for one of each stretch. */
enum status boxes_write_rows(const struct boxes_sums *table, int labels, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream);

#endif
