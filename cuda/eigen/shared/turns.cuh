/*
 * turns.cuh: the turn of a pair of axes without a division, and counting through a table's places.
 */
#ifndef RUNGS_EIGEN_STEPS_TURNS_CUH
#define RUNGS_EIGEN_STEPS_TURNS_CUH

#include <cuda_runtime.h>

#define LEAST 1e-290 /* of a square: below it a reciprocal root has no digits left */

/* eigen_rotation() by the double angle: with d = qq - pp, b = 2 pq and h = |(d, b)| its cosine is |d| / h. */
static __device__ inline void make_turn(double pp, double qq, double pq, double turn[2])
{
    const double d = qq - pp, b = 2 * pq, length = d * d + b * b, inverse = rsqrt(length);
    const double square = 0.5 + 0.5 * fabs(d) * inverse, root = rsqrt(square);
    const bool none = b == 0 || length < LEAST;

    turn[0] = none ? 1 : square * root;
    turn[1] = none ? 0 : 0.5 * (d < 0 ? -b : b) * inverse * root;
}

/* To the place in a table of `width` columns that comes blockDim.x places later. */
static __device__ inline void move_on(int *line, int *column, int width, int lines, int columns)
{
    *line += lines, *column += columns;
    if (*column >= width)
        ++*line, *column -= width;
}

/* eigen_pair() for k < pairs and step < 2 pairs - 1, as what a remainder is there. */
static __device__ inline void make_pair(int pairs, int step, int k, short pair[2])
{
    const int ring = 2 * pairs - 1, up = step + k - (step + k < ring ? 0 : ring),
              down = step - k + (step < k ? ring : 0);
    const int one = k == 0 ? ring : up;

    pair[0] = (short)min(one, down);
    pair[1] = (short)max(one, down);
}

#endif
