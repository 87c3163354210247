/*
 * rows.h: what comes before and after all pixels have been added: a table with an entry for each possible label is
 * cleared, and the entries that are large enough become rows of the output. v1.0 to v1.3 use all of it, v1.4 parts.
 */
#ifndef RUNGS_BOXES_STEPS_ROWS_H
#define RUNGS_BOXES_STEPS_ROWS_H

#include "common/algo/boxes.h"
#include "common/cuda/device.h"

enum { BOXES_STRETCH = 256 }; /* entries of the table that a block looks at, one a thread */

/* Empties the entries of all labels and the rows of the output. */
enum status boxes_clear(struct boxes_sums *table, int labels, const struct image *out, cudaStream_t stream);
/* Allocates a table whose entries are empty. */
enum status boxes_create_table(struct boxes_sums **table, int labels);
/* Each block counts the entries of its stretch that get a row. `counts` has room for one of each stretch. */
enum status boxes_count(const struct boxes_sums *table, int labels, int min_area, int *counts, cudaStream_t stream);
/* One block turns the counts into where the rows of each stretch begin, and writes their sum to the output. */
enum status boxes_offsets(int *counts, int stretches, const struct image *out, cudaStream_t stream);
/* Both, and then the stretches write their rows. */
enum status boxes_write_rows(const struct boxes_sums *table, int labels, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream);

#endif
