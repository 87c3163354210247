/*
 * draw.h: marks on an image, for people to look at.
 */
#ifndef RUNGS_DRAW_H
#define RUNGS_DRAW_H

#include "common/image/image.h"

enum { DRAW_LINE_WIDTH = 2 }; /* pixels */

/* The outline of a rectangle whose upper left pixel is (x,y), on a u8 image; colour has a sample for each channel. The
 * outline is the rectangle's own DRAW_LINE_WIDTH outermost rings of pixels (all of it when it is thinner than two
 * lines); what is outside the image is left out. Nothing for width or height < 1. */
void draw_rectangle(struct image *image, int x, int y, int width, int height, const uint8_t *colour);

/* The outlines of all boxes of a table of boxes.h. */
void draw_boxes(struct image *image, const struct image *table, const uint8_t *colour);

#endif
