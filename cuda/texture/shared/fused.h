/*
 * fused.h: a patch from its pixels to its label by one warp, in one kernel: of texture's v2.1, and of barcode. Between them lie
 * only shared memory and registers.
 *
 * What decides is |C|^2 - 128 h C (nearest.h). Most bins of a histogram are empty, so h C is added up bin by bin, over those that
 * are not: a lane has the centroids lane, lane + 32, ..., whose components of one bin lie side by side.
 */
#ifndef RUNGS_TEXTURE_FUSED_H
#define RUNGS_TEXTURE_FUSED_H

#include "common/algo/texture.h"
#include "common/cuda/device.h"

/* Centroids on the device. Zeroed: none. */
struct texture_table {
    uint16_t *components; /* 64 c, LBP_BINS x width */
    int *norms;           /* |C|^2, INT32_MAX beyond k */
    int width;            /* k, up to a multiple of 32 */
};

/* Does nothing when it is there. */
enum status texture_table_create(struct texture_table *table, const struct model *model);
void texture_table_free(struct texture_table *table);

/* Enqueues it: labels of the patches of a device image of 1 or 3 channels, `warps` patches a block. */
enum status texture_fused_launch(const struct texture_table *table, const struct image *in, struct image *labels,
                                 int patch, int warps, cudaStream_t stream);

#endif
