/*
 * ring.h: the last n rows of the accumulator, n the height of a line's neighbourhood.
 */
#ifndef RUNGS_PCLINES_STEPS_RING_H
#define RUNGS_PCLINES_STEPS_RING_H

#include "common/algo/pclines.h"

/* Rows of `width` counters, of which `radius` at either end stay 0. */
struct ring {
    int32_t *counters;
    int rows, width, radius;
};

static inline enum status ring_create(struct ring *ring, struct hough_space space, int radius)
{
    *ring = (struct ring){NULL, 2 * radius + 1, space.cells + 2 * radius, radius};
    ring->counters = malloc((size_t)ring->rows * (size_t)ring->width * sizeof *ring->counters);
    return ring->counters
               ? STATUS_OK
               : status_set(STATUS_NO_MEMORY, "no memory for %d rows of %d counters", ring->rows, ring->width);
}

/* Cell 0 of row v, which may lie up to `radius` rows beyond either end of the space. */
static inline int32_t *ring_row(const struct ring *ring, int v)
{
    const unsigned slot = (unsigned)(v + ring->rows) % (unsigned)ring->rows;

    return ring->counters + slot * (size_t)ring->width + ring->radius;
}

/* Whether no cell around (n, r) has more votes, and none of smaller index as many: rows beyond the end have smaller ones, rows
 * beyond the start larger ones. */
static inline bool ring_is_line(const struct ring *ring, struct hough_space space, int n, int r)
{
    const int32_t own = ring_row(ring, n)[r];

    for (int j = -ring->radius; j <= ring->radius; j++) {
        const bool before = n + j >= space.rows || (n + j >= 0 && j < 0);
        const int32_t *row = ring_row(ring, n + j) + r;
        for (int i = -ring->radius; i <= ring->radius; i++)
            if (before || (j == 0 && i < 0) ? row[i] >= own : row[i] > own)
                return false;
    }
    return true;
}

#endif
