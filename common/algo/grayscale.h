/*
 * grayscale.h: RGB to gray, the contract of every version in cpu/grayscale, cuda/grayscale and peers/grayscale.
 *
 * Input    one u8 image of 3 interleaved channels, red first, any size from 1x1.
 * Output   an u8 image of the same width and height, 1 channel.
 *
 * Formula  out(x,y) = ( 9798 * R + 19235 * G + 3735 * B + 2^14 ) >> 15
 *
 *          the luma 0.299 R + 0.587 G + 0.114 B with 15 fractional bits: 0.299 and 0.587 times 32768, rounded (9797.6
 *          and 19234.8), and for blue what is left of 32768 (3735.6 would be 3736), so that the sum is exactly 1 and
 *          gray stays what it was: R = G = B gives R. The sum is exact (at most 255 * 32768 + 2^14 < 2^23), and there
 *          is one rounding, half up: all versions agree to the bit. A pixel does not look around: there is no border.
 *
 * OpenCV   COLOR_RGB2GRAY of 4.6 has these weights and this rounding: met to the bit by all 2^24 colours, in rows of
 *          16, 256 and 4096 pixels, and by others in rows that no vector divides, with one and two threads.
 *
 * Accuracy Against 0.299 R + 0.587 G + 0.114 B in real numbers, rounded: 20753 of the 2^24 colours are one grey level
 *          off, none more.
 *
 * Parameters   none.
 *
 * Errors       samples that are not u8, any number of channels but 3 (an image of 1 channel is gray already).
 *
 * Source   Recommendation ITU-R BT.601-7, section 2.5.1: the luma of its analogue signal.
 */
#ifndef RUNGS_GRAYSCALE_H
#define RUNGS_GRAYSCALE_H

#include <stdint.h>

#include "common/contract/registry.h"

enum { GRAYSCALE_RED = 9798, GRAYSCALE_GREEN = 19235, GRAYSCALE_BLUE = 3735, GRAYSCALE_BITS = 15 };

struct grayscale_params; /* has no fields, so it is never completed */

#endif
