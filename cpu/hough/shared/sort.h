/*
 * sort.h: a counting sort of edge points by gradient angle, for cpu/bins of hough and cpu/orientation_bins of pclines.
 */
#ifndef RUNGS_HOUGH_STEPS_SORT_H
#define RUNGS_HOUGH_STEPS_SORT_H

#include "cpu/hough/shared/points.h"

/* `sorted`, which has room for all, gets the points by bin, and within a bin as they are dealt: one from each of 16
 * parts of the list, then the next from each, because neighbours would wait for one counter. With bins = 1 the points
 * have no bins. */
enum status sort_points(const struct points *points, int bins, struct points *sorted);

#endif
