/*
 * kept_pixels.h: pixels of a cube that are left out because they hold a value that stands for nothing (envi.h).
 */
#ifndef RUNGS_KEPT_PIXELS_H
#define RUNGS_KEPT_PIXELS_H

#include "common/image/image.h"

/* The pixels that stayed of a cube of width x height: pixel i of the smaller one was places[i] in raster order. places
 * is NULL where all did. */
struct kept_pixels {
    int width, height;
    int64_t count;
    int64_t *places;
};

/* Takes the pixels of which a band is `ignore` out of the cube, and says in *kept where the others were. With kept
 * NULL, or where none would stay, STATUS_BAD_INPUT with "path: reason". */
enum status kept_choose(struct image *cube, double ignore, const char *path, struct kept_pixels *kept);
void kept_free(struct kept_pixels *kept);
/* *whole is new: the image `part`, which has a sample for each pixel that stayed, where it was; the others are NaN in
 * f32 and f64, -1 in i32, else 0. */
enum status kept_spread(struct image *whole, const struct image *part, const struct kept_pixels *kept);

#endif
