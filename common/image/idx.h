/*
 * idx.h: IDX files, as the MNIST digits come in (train-images-idx3-ubyte): big-endian arrays with a short binary
 * header. Source: LeCun, Cortes and Burges, The MNIST database of handwritten digits, "File formats".
 *
 * Read     u8, i16 (which becomes f32), i32, f32 and f64 of 1 to 3 dimensions: N is a column of N samples, HxW one
 *          channel, HxWxC a tensor, like a .npy array of that shape. N pictures of 24x24 are a tensor of N x 24 x 24,
 *          and, where a matrix is wanted, N rows of 576 features (array_io.h).
 *
 * Anything else is STATUS_BAD_INPUT with one line "path: reason", and so is a file that is shorter or longer than its
 * header says. All is checked before memory is taken.
 */
#ifndef RUNGS_IDX_H
#define RUNGS_IDX_H

#include "common/image/image.h"

/* Whether the file begins like one: no picture file does. False, too, when it cannot be read. */
bool idx_is_file(const char *path);

enum status idx_load(struct image *array, const char *path);

#endif
