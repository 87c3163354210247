/*
 * absdiff.h: absolute difference of two images, the contract of every version in cpu/absdiff, cuda/absdiff and
 * peers/absdiff.
 *
 * Input    two u8 images of the same width, height and channels (1, or 3 interleaved), any size from 1x1.
 * Output   an u8 image of that shape.
 *
 * Formula  out(x,y) = | in[0](x,y) - in[1](x,y) |   for each channel by itself.
 *
 *          The difference of two u8 samples is -255..255, which no byte holds: it must be taken in a wider type, or as
 *          the larger minus the smaller, never as the absolute value of a byte. The result, 0..255, always fits, so
 *          there is no rounding and no saturation: all versions agree to the bit. A pixel does not look around, so
 *          there is no border; exchanging the two images changes nothing.
 *
 * OpenCV   absdiff of two CV_8U images is the same to the bit.
 *
 * Parameters   none.
 *
 * Errors       samples that are not u8, 2 or more than 3 channels, images of two shapes (both are named).
 *
 * Source   frame differencing: Gonzalez and Woods, Digital Image Processing, 4th edition, section 2.6.
 */
#ifndef RUNGS_ABSDIFF_H
#define RUNGS_ABSDIFF_H

#include <stdint.h>

#include "common/contract/registry.h"

struct absdiff_params; /* has no fields, so it is never completed */

#endif
