/*
 * marks.h: which pixels of an image are wrong, and the places that such pixels fill: last columns, borders, lattices.
 */
#ifndef RUNGS_MARKS_H
#define RUNGS_MARKS_H

#include <stdint.h>

#include "common/verify/evidence.h"

/* A map of pixels (1 = marked) and what one pass over it tells. */
struct marks {
    uint8_t *pixel;    /* width x height */
    int *column, *row; /* marked pixels of each */
    int width, height;
    size_t count;
    int left, right, top, bottom; /* bounding box, inclusive */
};

enum status marks_create(struct marks *marks, int width, int height);
void marks_free(struct marks *marks);
void marks_add(struct marks *marks, int x, int y);

/* Says in words which region the marks fill, and what leaves such a region; radius as in struct evidence. Only in a
 * picture may what repeats be the edges of tiles. */
int marks_find_region(const struct marks *marks, bool is_picture, int radius, int channels, char *text, size_t size);

#endif
