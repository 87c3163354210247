/*
 * rows.h: rows of k-means on the host, as the solver and assignments see them: measured, as X, and their distances.
 */
#ifndef RUNGS_KMEANS_ROWS_H
#define RUNGS_KMEANS_ROWS_H

#include "common/algo/kmeans.h"

extern const int32_t kmeans_zeros[KMEANS_MAX_FEATURES]; /* a centroid from which a row's distance is |X|^2 */

/* Shift, and whether the rows are small. f32: no faster than `fixed` needs it. u8, u16: the sums decide. */
void kmeans_rows_measure(struct kmeans_rows *rows);
/* Whether those that this thread measured last are small, whatever a version has written into them since. */
bool kmeans_rows_were_small(void);
/* Makes `fixed`, which is the caller's to free. */
enum status kmeans_rows_fix(struct kmeans_rows *rows);
/* D of a row and a centroid. */
uint64_t kmeans_row_distance(const struct kmeans_rows *rows, int64_t row, const int32_t *centroid);
/* D of two small rows: their samples differ by at most 511. */
uint64_t kmeans_rows_distance(const struct kmeans_rows *rows, int64_t row, int64_t other);
/* X of a row into a centroid. */
void kmeans_row_take(const struct kmeans_rows *rows, int64_t row, int32_t *centroid);

#endif
