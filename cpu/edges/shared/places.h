/*
 * places.h: the places of edge points in a mask, and what is computed from them: hysteresis and the table.
 */
#ifndef RUNGS_EDGES_STEPS_PLACES_H
#define RUNGS_EDGES_STEPS_PLACES_H

#include "common/algo/edges.h"

enum { NOTHING, WEAK = 1, EDGE = 255 };

/* The places y * width + x of edge points, in raster order, found by all threads; returns their number. `places` has
 * room for all pixels. */
size_t places_find(const struct image *mask, uint32_t *places);

/* Weak pixels that chains join to edge points become edge points, the others nothing. `places` has room for all
 * pixels. */
void places_follow(struct image *mask, uint32_t *places);

/* The table of edge points. */
void places_list(const struct image *in, const uint32_t *places, size_t count, struct image *points);

#endif
