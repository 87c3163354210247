/*
 * draw.h: marks on an image, for people to look at.
 *
 * Images are u8; a colour has a sample for each of their channels. What is outside the image is left out, so any
 * coordinates are legal. (x,y) is the centre of a pixel.
 */
#ifndef RUNGS_DRAW_H
#define RUNGS_DRAW_H

#include "common/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DRAW_LINE_WIDTH = 2, DRAW_TEXT_HEIGHT = 7 }; /* pixels */

/* Bright colours that differ from one index to the next, RGB; any index is legal. */
const uint8_t *draw_palette(int index);

/* Makes *canvas, u8 with 3 channels, to draw on: a picture of 1 or 3 channels as it is. u16 keep their upper 8 bits; of
 * the other types the smallest sample becomes 0 and the largest 255. */
enum status draw_canvas(struct image *canvas, const struct image *picture);

/* The outline of a rectangle whose upper left pixel is (x,y). The outline is the rectangle's own DRAW_LINE_WIDTH
 * outermost rings of pixels (all of it when it is thinner than two lines). Nothing for width or height < 1. */
void draw_rectangle(struct image *image, int x, int y, int width, int height, const uint8_t *colour);
/* From one end to the other, both included, 1 pixel thick. */
void draw_line(struct image *image, double x0, double y0, double x1, double y1, const uint8_t *colour);
/* A + of 2 * arm + 1 pixels each way. */
void draw_cross(struct image *image, int x, int y, int arm, const uint8_t *colour);
/* 1 pixel thick; a radius of 0 is a point. */
void draw_circle(struct image *image, int x, int y, int radius, const uint8_t *colour);
/* Digits, capital letters and - . : % = ( ) / in cells of 6 x DRAW_TEXT_HEIGHT pixels from the upper left pixel (x,y)
 * on; small letters are drawn as capitals, other characters as blanks. */
void draw_text(struct image *image, int x, int y, const char *text, const uint8_t *colour);

#ifdef __cplusplus
}
#endif
#endif
