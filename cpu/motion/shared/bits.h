/*
 * bits.h: pictures of bits, 64 pixels a word, and what bits, packed and per_frame of motion do with them.
 */
#ifndef RUNGS_MOTION_BITS_H
#define RUNGS_MOTION_BITS_H

#include "common/algo/motion.h"

enum { BITS_WORD = 64, BITS_VECTOR = 8 /* words; rows are as many or a multiple, so that loops have no remainder */ };

/* A word before a row's first one and one behind its last are 0, as are bits beyond the width: what lies outside the image
 * counts for nothing. */
struct motion_bits {
    int width;
    int words; /* of a row, a multiple of BITS_VECTOR */
    int rows;
    uint64_t *data;
};

static inline uint64_t *motion_bits_row(const struct motion_bits *bits, int y)
{
    return bits->data + (size_t)y * (size_t)(bits->words + 2 * BITS_VECTOR) + BITS_VECTOR;
}

/* All bits are 0. */
enum status motion_bits_create(struct motion_bits *bits, int width, int rows);
void motion_bits_free(struct motion_bits *bits);

/* `cleaned` is the mask of where a and b differ by more than `value`, closed and perhaps opened; all threads. */
enum status motion_bits_find(const struct image *a, const struct image *b, int value,
                             const struct motion_params *params, struct motion_bits *mask, struct motion_bits *cleaned);

/* 255 for each bit that is set, else 0. */
void motion_bits_unpack(const struct motion_bits *bits, const struct image *mask);

#endif
