/*
 * buffer.h: the accumulator as a circular buffer of rows (Jošth 2014, algorithm 4), what cpu/buffer and the rungs above it
 * have in common; how points vote is their own.
 *
 * A line is told by n rows, n the height of its neighbourhood, so there never are more than n: as one is searched, the next
 * takes the place of the oldest. The loop of the thesis leaves out n / 2 rows at both ends; here theta wraps: a row below 0
 * or above the last is that of pi more or less, with rho reversed. Each thread has runs of rows of its own, and computes
 * the n / 2 rows beyond a run at either end for itself.
 */
#ifndef RUNGS_HOUGH_STEPS_BUFFER_H
#define RUNGS_HOUGH_STEPS_BUFFER_H

#include "cpu/hough/shared/points.h"

/* Adds to centre[offset] for each point that votes for row n; `angle` is that of the row, or reversed. */
typedef void buffer_voter(int32_t *centre, const struct points *points, struct hough_angle angle,
                          const struct hough_params *params, int n);

/* Both outputs, as far as they are asked for. A thread takes `run` rows at a time; 0: all threads equally many, once. */
enum status buffer_find_lines(const struct points *points, struct hough_space space, const struct hough_params *params,
                              buffer_voter *vote, int run, struct image *out);

#endif
