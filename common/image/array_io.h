/*
 * array_io.h: array files in: matrices and tensors from .npy (npy.h), ENVI cubes (envi.h) by name, IDX (idx.h) by
 * content, and any picture (image_io.h) as height x width x channels.
 */
#ifndef RUNGS_ARRAY_IO_H
#define RUNGS_ARRAY_IO_H

#include "common/image/envi.h"
#include "common/image/image.h"

/* A tensor of height x width x channels, in the type of the file; errors as image_load()'s. kept: as envi_load()'s, of
 * what is no ENVI cube all pixels stay. */
enum status array_load(struct image *array, const char *path, struct kept_pixels *kept);

/* A matrix of one channel. What has three dimensions becomes rows: N x H x W is N rows of H * W samples, in the order
 * of the file; but a picture must be gray. */
enum status array_load_matrix(struct image *array, const char *path);

#endif
