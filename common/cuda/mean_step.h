/*
 * mean_step.h: the running mean of motion.h on the device: M(0) from G(0), the background from M, and M(t+1) from M(t)
 * and G(t). All images are device images of one size, `mean` u16, the others u8, 1 channel; all calls enqueue on
 * `stream`.
 */
#ifndef RUNGS_MEAN_STEP_H
#define RUNGS_MEAN_STEP_H

#include "common/cuda/device.h"

enum status mean_step_start(struct image *mean, const struct image *blurred, cudaStream_t stream);
enum status mean_step_background(const struct image *mean, struct image *background, cudaStream_t stream);
enum status mean_step_update(struct image *mean, const struct image *blurred, int rate, cudaStream_t stream);

#endif
