/*
 * ring.h: the accumulator as a ring buffer of rows (Jošth 2014, algorithm 4), for cpu/ring_buffer and the rungs above
 * it; how points vote is their own.
 *
 * The window of a line has n rows, so n rows are enough: row v takes the place of row v - n, and then row v - n / 2 can
 * be searched.
 *
 *     slot      0       1       2       3       4        n = 5: row v has just replaced row v - 5,
 *     row     v - 2   v - 1     v     v - 4   v - 3      and row v - 2 can be searched
 *
 * Theta wraps: a row below 0 or above the last is the row at the other end with rho reversed. A thread has rows first
 * to last - 1, and also computes the n / 2 rows beyond either end.
 */
#ifndef RUNGS_HOUGH_STEPS_RING_H
#define RUNGS_HOUGH_STEPS_RING_H

#include "cpu/hough/shared/points.h"

/* Adds to centre[offset] for each point that votes for row n; `angle` is that of the row, or reversed. */
typedef void ring_voter(int32_t *centre, const struct points *points, struct hough_angle angle,
                        const struct hough_params *params, int n);

/* Both outputs, as far as they are wanted. A thread takes `run` rows at a time; 0: equal shares. */
enum status ring_find_lines(const struct points *points, struct hough_space space, const struct hough_params *params,
                            ring_voter *vote, int run, struct image *out);

#endif
