/*
 * operands.h: centroids as operands A of the tensor cores, on the device; of texture v2.0.
 */
#ifndef RUNGS_TEXTURE_OPERANDS_H
#define RUNGS_TEXTURE_OPERANDS_H

#include "common/algo/texture.h"
#include "common/cuda/device.h"

enum {
    TEXTURE_GROUP = 16 /* centroids of an operand */,
    TEXTURE_STEPS = LBP_BINS / 32 /* instructions of the tensor cores for a product */,
    TEXTURE_PIECES = 2 * TEXTURE_STEPS * 32 /* of 16 bytes: a group's operands */
};

/* fragments[((group * 2 + plane) * TEXTURE_STEPS + s) * 32 + lane] is what a lane holds of operand A (mma.cuh) for bins
 * 32 s to 32 s + 31, of their lower bytes (plane 0) or their upper ones (plane 1). */
struct texture_operands {
    uint4 *fragments;
    int *norms /* |C|^2, INT32_MAX beyond the last */, groups;
};

/* Does nothing when they are there; on failure texture_operands_free() is needed. */
enum status texture_operands_create(struct texture_operands *operands, const struct model *model);
void texture_operands_free(struct texture_operands *operands);

#endif
