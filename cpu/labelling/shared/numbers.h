/*
 * numbers.h: numbers 1, 2, 3 ... in place of raster indices, and the statistics of components, both from runs.
 */
#ifndef RUNGS_LABELLING_STEPS_NUMBERS_H
#define RUNGS_LABELLING_STEPS_NUMBERS_H

#include "cpu/labelling/shared/runs.h"

/* Of finished trees: numbers the components by their first runs. The number of each goes to its root's `number`, and to its
 * `label` where labels are to be consecutive; its label, to the table. Returns how many there are. */
int32_t numbers_by_run(struct runs *runs, struct image out[], const struct labelling_params *params);
/* Adds the runs of row y to the components that the table has a row for, without a look at pixels. */
void numbers_add_row(const struct runs *runs, struct boxes_sums *sums, int rows, int y);
/* Writes the table of `count` components, whose sums are those of all threads, a table's rows for each. */
void numbers_write(struct image *table, struct boxes_sums *sums, int threads, int32_t count);

#endif
