/*
 * nearest.h: the nearest centroid of each histogram, the contract of every version in cpu/nearest and cuda/nearest.
 *
 * Input    histograms  u16 tensor of rows x columns x 256, as lbp makes it with patches of 8 or 16 pixels: the bins of
 *                      a patch add up to at most 256. 1 to 65535 rows and columns
 *          centroids   f32 matrix of k x 256, 1 to 256 of them, as kmeans makes it: no component below 0, and those of
 *                      a centroid add up to at most 260
 * Output   u8 matrix of rows x columns: the centroid of each patch, from 0.
 *
 * Formula  Components are taken in 1/64, C = round(64 c), half up. With
 *
 *              D(h, j) = SUM (64 h - C_j)^2 = 4096 |h|^2 + |C_j|^2 - 128 h C_j
 *
 *          the label is the j with the smallest D, ties to the lower. The first term is the same for all j, and the
 *          others stay below 2^30: all versions agree to the bit.
 *
 * Errors   other types, other widths than 256, more than 65535 rows or columns or 256 centroids, values out of range or
 *          NaN: STATUS_BAD_INPUT.
 *
 * Source   Schoose 2021, section 3.2: its kernel has a block for each patch, a thread for each bin, K sums by
 *          atomicAdd() and one thread that looks for the smallest.
 */
#ifndef RUNGS_NEAREST_H
#define RUNGS_NEAREST_H

#include <stdint.h>

#include "common/algo/lbp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NEAREST_MAX_K = 256, NEAREST_SCALE = 64 };

struct nearest_params; /* there is nothing to choose */

/* A component in 1/64, at most 2^14 + 64 * 4. */
static HOST_DEVICE inline int nearest_fixed(float component)
{
    return (int)((float)NEAREST_SCALE * component + 0.5f);
}

/* One centroid; works for device pointers too. */
static HOST_DEVICE inline const float *nearest_centroid(const struct image *centroids, int j)
{
    return (const float *)image_row(centroids, j);
}

/* STATUS_BAD_INPUT, with a message that says where, unless this is a matrix of centroids, on the host. */
enum status nearest_check_centroids(const struct image *centroids);

#ifdef __cplusplus
}
#endif
#endif
