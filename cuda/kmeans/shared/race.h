/*
 * race.h: the race of k-means++ over packed rows, of kmeans v2.1 and those above it.
 *
 * A centroid of the start is a row, so its samples are small too, and D = 4096 (|x|^2 + |c|^2 - 2 x c) is made of
 * products of bytes. Four lanes read a row, 64 bytes a step, and take turns with four of them; then a lane has a row to
 * itself, for what comes after the distance. The block that ends last knows the winner, and makes it the centroid.
 */
#ifndef RUNGS_KMEANS_RACE_H
#define RUNGS_KMEANS_RACE_H

#include "cuda/kmeans/shared/bytes.h"

/* A kmeans_device_race over packed rows; the first of a call packs them. */
enum status kmeans_bytes_race(const struct kmeans_bytes *bytes, const struct kmeans_task *task,
                              const struct kmeans_params *params, int attempt, int cluster, cudaStream_t stream);

#endif
