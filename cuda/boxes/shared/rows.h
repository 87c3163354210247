/*
 * rows.h: what comes before and after the pixels are added: a table with an entry for each possible label is cleared,
 * and the entries that are large enough become rows of the output, by a prefix sum (scan):
 *
 *     stretches of the table     0 .. 255 | 256 .. 511 | 512 .. 767 | ...      one block each
 *     counts: large entries         2     |     0      |     3      | ...      count_kernel
 *     rows before them              0     |     2      |     2      |  5 ..    offset_kernel, one block
 */
#ifndef RUNGS_BOXES_ROWS_H
#define RUNGS_BOXES_ROWS_H

#include "common/algo/boxes.h"
#include "common/cuda/device.h"

enum { BOXES_STRETCH = 256 }; /* entries of the table for a block, one a thread */

/* Empties the entries of all labels and the rows of the output. */
enum status boxes_clear(struct boxes_sums *table, int labels, const struct image *out, cudaStream_t stream);
/* Writes a row for each entry whose area is large enough. `counts` has room for one number of each stretch. */
enum status boxes_write_rows(const struct boxes_sums *table, int labels, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream);

#endif
