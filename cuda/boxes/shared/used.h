/*
 * used.h: a bit mask says which entries of the table are in use, in words of 32 bits, so that no other entry is read,
 * and each launch leaves the table and the mask empty for the next one.
 */
#ifndef RUNGS_BOXES_USED_H
#define RUNGS_BOXES_USED_H

#include "cuda/boxes/shared/rows.h"

/* Allocates a table whose entries are empty. */
enum status boxes_create_table(struct boxes_sums **table, int labels);
/* Writes a row for each used entry whose area is large enough, and empties all used entries and their words. A stretch
 * is BOXES_STRETCH words of the mask, one a thread; `counts` has room for one number of each stretch. */
enum status boxes_write_used(struct boxes_sums *table, unsigned *used, int words, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream);

#endif
