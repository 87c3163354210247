/*
 * npy.h: NumPy's array files (.npy), for raw results of any pixel type.
 * Source: numpy.lib.format, "NPY format", versions 1.0, 2.0 and 3.0.
 *
 * Read     uint8, uint16, int32, uint32, float32 and float64, little and big endian, C order. A picture is HxW (one
 *          channel) or HxWxC, and float64 is rounded to float32 (beyond its range it becomes infinite). An array has 1
 *          to 3 dimensions, one of 1 is a column, and float64 stays as it is.
 * Written  version 1.0, little endian, HxW for one channel, else HxWxC. Height 0 is written, too: (0, W).
 *
 * Anything else is STATUS_BAD_INPUT with one line "path: reason", and so is a file whose data is shorter or longer than
 * its header says. Both are checked before memory is taken.
 */
#ifndef RUNGS_NPY_H
#define RUNGS_NPY_H

#include "common/core/file.h"
#include "common/image/image.h"

/* A picture, within IMAGE_MAX_SIDE. */
enum status npy_load(struct image *image, const char *path);
/* Any array, within ARRAY_MAX_SIDE; its rows follow on `rows_before` rows of zeros. Only behind such may it have
 * none. */
enum status npy_load_array(struct image *array, const char *path, int rows_before);
/* Errors are kept for file_commit(). */
void npy_encode(struct output_file *file, const struct image *image);
enum status npy_save(const struct image *image, const char *path);

#endif
