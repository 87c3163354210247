/*
 * lanes.h: from the picture to the labels in one kernel, of texture v2.4: comparisons of 16-bit numbers and counters of a lane's own
 * as in lbp v2.6, products by tensor cores as in nearest v1.3.
 */
#ifndef RUNGS_TEXTURE_LANES_H
#define RUNGS_TEXTURE_LANES_H

#include "common/algo/texture.h"
#include "common/cuda/device.h"

enum {
    TEXTURE_LANES_WARPS = 23 /* of a block at most: 64 centroids and so many warps fill a multiprocessor of 227 KB */
};

/* Centroids on the device, 16 to a group. fragments[((group * 2 + plane) * 8 + s) * 32 + lane] is what a lane has of operand A
 * (mma.cuh) for bins 32 s to 32 s + 31, of their lower bytes (plane 0) or their upper ones; norms: |C|^2, INT32_MAX behind the last. */
struct texture_operands {
    uint4 *fragments;
    int *norms, groups;
};

/* Does nothing when they are there; on failure texture_operands_free() is needed. */
enum status texture_operands_create(struct texture_operands *operands, const struct model *model);
void texture_operands_free(struct texture_operands *operands);

/* Enqueues the kernel, from one device image to the other; `warps`: of a block, at most; `ahead`: all lines of the
 * picture are asked for before the first is used. */
enum status texture_lanes_launch(const struct texture_operands *operands, const struct image *in, struct image *labels,
                                 int patch, int warps, bool ahead, cudaStream_t stream);

#endif
