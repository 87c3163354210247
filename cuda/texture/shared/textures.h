/*
 * textures.h: what v1.0 to v1.3 of texture, and barcode, share: the steps, the device images between them, and a
 * picture's way through both. When they are made, and which versions the steps are, is the rungs' own.
 */
#ifndef RUNGS_TEXTURE_TEXTURES_H
#define RUNGS_TEXTURE_TEXTURES_H

#include "common/algo/texture.h"
#include "common/cuda/device.h"

/* Zeroed: closed. The images are on the device. */
struct textures {
    struct step grayscale, lbp, nearest; /* grayscale only for pictures of 3 channels */
    struct image gray, histograms, centroids;
};

/* Opens the steps for pictures like *in, makes the images and uploads the centroids; `tunables`, or NULL, are handed on
 * to every step that has one of that name. Does nothing when it is open; on failure textures_close() is needed. */
enum status textures_open(struct textures *textures, const struct image *in, int patch, const struct model *model,
                          const struct texture_versions *versions, const struct tunable *tunables);
/* Enqueues the steps, from one device image to the other. */
enum status textures_launch(struct textures *textures, const struct image *in, struct image *labels,
                            cudaStream_t stream);
void textures_close(struct textures *textures);

#endif
