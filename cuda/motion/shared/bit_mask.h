/*
 * bit_mask.h: masks of 1 bit a pixel on the device, and what can be done with 32 pixels at once: what moves, closing
 * and opening, and the table of boxes.h straight from the bits, without a label image.
 *
 * Row y is `pitch` words from words + y * pitch on; bit b of word c is pixel (32 c + b, y). Bits past the last pixel of
 * a row are 0. All functions with a stream enqueue on it and return.
 */
#ifndef RUNGS_BIT_MASK_H
#define RUNGS_BIT_MASK_H

#include "common/algo/boxes.h"
#include "common/algo/morphology.h"
#include "common/cuda/device.h"

struct bit_mask {
    unsigned *words;
    int width, height; /* in pixels */
    int pitch;         /* words of a row: width / 32, rounded up */
};

enum status bit_mask_create(struct bit_mask *mask, int width, int height);
void bit_mask_free(struct bit_mask *mask);

/* ------------------------------------------------------------------------------------------------- from pixels */

/* B(t) of motion.h, on the device. */
struct bit_background {
    struct image image; /* u8 */
    struct image mean;  /* u16; its data is NULL where `image` is the background, else it moves on with each frame */
    int rate;
};

/* What moves: pixels of `blurred` whose difference from the background is larger than `value`. Images are u8 and have
 * rows that may be written up to the next multiple of 64 bytes (device_image_create() makes such). */
enum status bit_mask_moving(const struct image *blurred, const struct bit_background *background, int value,
                            const struct bit_mask *mask, cudaStream_t stream);
/* The same in two, for a threshold that depends on the difference and is found on the device. */
enum status bit_mask_difference(const struct image *blurred, const struct bit_background *background,
                                const struct image *difference, cudaStream_t stream);
enum status bit_mask_threshold(const struct image *difference, const int *found, const struct bit_mask *mask,
                               cudaStream_t stream);

/* ------------------------------------------------------------------------------------------------- morphology */

/* out = close(in), or open(close(in)) where `opens`, by the element of morphology.h, in one kernel; ksize 3 to 31. in
 * and out may not overlap. multiprocessors: of the device, to cut the mask into as many tiles. */
enum status bit_morphology(const struct bit_mask *in, const struct bit_mask *out, bool opens, int shape, int ksize,
                           int multiprocessors, cudaStream_t stream);

/* ------------------------------------------------------------------------------------------------------- boxes */

struct bit_boxes_sums;

/* What one frame's components take on the device. All 0 between frames. */
struct bit_boxes {
    int *drops;                  /* a forest over the runs (bit_boxes.cu) */
    struct bit_boxes_sums *sums; /* of each run that is a root */
    int *counts;                 /* boxes of each row: components whose first pixel it has */
};

/* For masks of the shape of `mask`, 18 bytes a pixel. */
enum status bit_boxes_create(struct bit_boxes *boxes, const struct bit_mask *mask);
void bit_boxes_free(struct bit_boxes *boxes);

/* Joins the runs of pixels to components; connectivity 8 or 4. To be followed by bit_boxes_write(). */
enum status bit_boxes_join(const struct bit_boxes *boxes, const struct bit_mask *mask, int connectivity,
                           cudaStream_t stream);

/* Writes the table of boxes.h, rows of BOXES_COLUMNS ints without a gap: row 0, and those rows after it that hold a
 * box; the others stay as they are. `table`: anything that the device can write, pinned host memory too, 16-byte
 * aligned. */
enum status bit_boxes_write(const struct bit_boxes *boxes, const struct bit_mask *mask, int min_area, int max_boxes,
                            int32_t *table, cudaStream_t stream);

#endif
