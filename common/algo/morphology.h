/*
 * morphology.h: dilation, erosion, opening and closing, the contract of every version in cpu/morphology,
 * cuda/morphology and peers/morphology.
 *
 * Input    one u8 image, 1 channel (grey values, or a mask of 0 and 255), any size from 1x1.
 * Output   an u8 image of the same shape.
 *
 * Formula  With r = (ksize-1)/2 and the structuring element E of the shape asked for, a set of displacements (i, j):
 *
 *              dilate  out(x,y) = max { in(x+i, y+j) : (i,j) in E, (x+i, y+j) inside the image }
 *              erode   out(x,y) = min { in(x+i, y+j) : (i,j) in E, (x+i, y+j) inside the image }
 *              open    the image is eroded, and the result dilated
 *              close   the image is dilated, and the result eroded
 *
 *          Pixels outside the image are ignored, in both steps of open and close; (0,0) is always in E, so no set is
 *          empty. There is no arithmetic but comparison: all versions agree to the bit. To repeat the border pixel
 *          gives the same: both elements hold with (i,j) every displacement nearer to (0,0) along x and y, and clamping
 *          only moves nearer.
 *
 * Element  Row j, -r <= j <= r, holds the displacements |i| <= reach(j), see morphology_reach():
 *
 *              square  reach(j) = r
 *              disk    reach(j) = sqrt(r^2 - j^2), rounded to the nearest integer
 *
 *          A half never occurs (a^2 + a + 1/4 is no integer), so it does not matter which way halves round. The disk
 *          is OpenCV's MORPH_ELLIPSE for all odd ksize up to 101, pixel by pixel. It is symmetric along x and along y
 *          (so erosion and dilation take the same E, and there is no question of reflecting it), but not across the
 *          diagonal: with ksize 15 the rows reach 0 4 5 6 6 7 7 7 from the edge to the centre, the columns
 *          2 4 5 6 6 6 6 7. The top and the bottom row are one pixel.
 *
 * Chords   All that the faster versions rest on: a row of E is a run of pixels, a chord, and many rows share the same
 *          (ksize 15: 15 rows, chords 1, 9, 11, 13 and 15 pixels long). The maximum over each chord is needed once for
 *          each pixel of the image, not once for each row of E.
 *
 * Parameters   op     dilate (default), erode, open, close
 *              shape  disk (default), square
 *              ksize  odd, 3..31, default 15, in pixels
 *
 * OpenCV   dilate(), erode() and morphologyEx() with their default border are met to the bit.
 *
 * Source   Gonzalez and Woods, Digital Image Processing, 4th edition, sections 9.2, 9.3 and 9.8. Chords: E. R. Urbach,
 *          M. H. F. Wilkinson, Efficient 2-D grayscale morphological transformations with arbitrary flat structuring
 *          elements, IEEE Transactions on Image Processing 17(1), 2008.
 */
#ifndef RUNGS_MORPHOLOGY_H
#define RUNGS_MORPHOLOGY_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#define MORPHOLOGY_CONSTANT constexpr /* so that a kernel may unroll over the rows of E */
#else
#define MORPHOLOGY_CONSTANT
#endif

enum { MORPHOLOGY_MAX_KSIZE = 31, MORPHOLOGY_MAX_RADIUS = MORPHOLOGY_MAX_KSIZE / 2 };

enum morphology_op { MORPHOLOGY_DILATE, MORPHOLOGY_ERODE, MORPHOLOGY_OPEN, MORPHOLOGY_CLOSE };
enum morphology_shape { MORPHOLOGY_DISK, MORPHOLOGY_SQUARE };

struct morphology_params {
    int op;    /* enum morphology_op */
    int shape; /* enum morphology_shape */
    int ksize;
};

/* How far, in pixels, row j of the element reaches to the left and to the right of its centre. */
MORPHOLOGY_CONSTANT static inline int morphology_reach(int shape, int radius, int j)
{
    const int squared = radius * radius - j * j;
    int reach = 0;

    if (shape == MORPHOLOGY_SQUARE)
        return radius;
    while (reach * (reach + 1) < squared) /* (reach + 1/2)^2 < squared, in integers */
        reach++;
    return reach;
}

/* The element as a mask: mask[(j + r) * ksize + i + r] is 1 where (i, j) is in E, else 0. */
void morphology_mask(const struct morphology_params *params, uint8_t mask[MORPHOLOGY_MAX_KSIZE * MORPHOLOGY_MAX_KSIZE]);

/* An op as one or two steps, each an erosion (true) or a dilation (false). Gives their number. */
int morphology_steps(const struct morphology_params *params, bool erodes[2]);

#ifdef __cplusplus
}
#endif
#endif
