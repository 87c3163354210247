/*
 * bounds.h: two bounds for each row, of the distance to its own centroid and of that to all others, which say whether it can have
 * come to lie nearer to another one (G. Hamerly, Making k-means even faster, SDM 2010). Both are rounded to the safe side, so
 * that a row whose label they keep has that label by the definition too. For small rows (struct kmeans_rows).
 */
#ifndef RUNGS_KMEANS_BOUNDS_H
#define RUNGS_KMEANS_BOUNDS_H

#include "common/algo/kmeans.h"

enum { KMEANS_BOUNDS_CHUNK = 1 << 12 /* most rows of a part of an assignment */ };

struct kmeans_row_bounds {
    double squares, upper, lower; /* |X|^2; bounds */
};

/* What assignments keep for the next one; it is their state. Zeroed before the first. */
struct kmeans_bounds {
    struct kmeans_row_bounds *rows;
    int64_t room;                                             /* of rows */
    int32_t *before;                                          /* centroids of the last assignment */
    double shifts[KMEANS_MAX_K], largest_other[KMEANS_MAX_K]; /* how far each has moved since, and all others at most */
};

/* Before each assignment. */
enum status kmeans_bounds_begin(struct kmeans_bounds *bounds, const struct kmeans_assignment *assignment);
void kmeans_bounds_free(struct kmeans_bounds *bounds);

/* Moves the bounds of rows first to last - 1; gives those whose label may be another one, and how many they are. */
int kmeans_undecided(const struct kmeans_assignment *assignment, int64_t first, int64_t last, int64_t rows[]);
/* New bounds of a row from D - |X|^2 of the nearest and of the second nearest centroid. */
void kmeans_bounds_set(const struct kmeans_assignment *assignment, int64_t row, const uint16_t *x, int32_t nearest,
                       int32_t second);

#endif
