/*
 * npy.h: NumPy's array files (.npy), for raw results of any pixel type.
 * Source: numpy.lib.format, "NPY format", versions 1.0, 2.0 and 3.0.
 *
 * Read     uint8, uint16, int32, float32, and float64 (rounded to float32; beyond its range it becomes infinite),
 * little and big endian, C order; HxW (one channel) or HxWxC. Written  version 1.0, little endian, HxW for one channel,
 * else HxWxC.
 *
 * Anything else is STATUS_BAD_INPUT with one line "path: reason", and so is a file whose data is shorter or longer than
 * its header says. Both are checked before memory is taken.
 */
#ifndef RUNGS_NPY_H
#define RUNGS_NPY_H

#include "common/image/image.h"

enum status npy_load(struct image *image, const char *path);
enum status npy_save(const struct image *image, const char *path);

#endif
