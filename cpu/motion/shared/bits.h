/*
 * bits.h: masks of 1 bit a pixel, 64 pixels a word: the mask of what moves, closed and perhaps opened. For
 * cpu/bit_masks and cpu/per_frame.
 */
#ifndef RUNGS_MOTION_SHARED_BITS_H
#define RUNGS_MOTION_SHARED_BITS_H

#include "common/algo/motion.h"

enum { BITS_WORD = 64 };

/* A word before a row's first one and one behind its last are 0, as are bits beyond the width: pixels outside the image
 * do not count. */
struct motion_bits {
    int width, rows;
    int words; /* of a row */
    uint64_t *data;
};

static inline uint64_t *motion_bits_row(const struct motion_bits *bits, int y)
{
    return bits->data + (size_t)y * (size_t)(bits->words + 2) + 1;
}

/* All bits are 0. */
enum status motion_bits_create(struct motion_bits *bits, int width, int rows);
void motion_bits_free(struct motion_bits *bits);

/* `mask` becomes where a and b differ by more than `value`, closed and perhaps opened; all threads. `between` is
 * overwritten. */
void motion_bits_find(const struct image *a, const struct image *b, int value, const struct motion_params *params,
                      struct motion_bits *mask, struct motion_bits *between);

#endif
