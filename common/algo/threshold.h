/*
 * threshold.h: black and white by a threshold, the contract of every version in cpu/threshold, cuda/threshold and
 * peers/threshold.
 *
 * Input    one u8 image, 1 or 3 channels (interleaved), any size from 1x1; for value=otsu 1 channel, and no more pixels
 *          than otsu.h allows.
 * Output   an u8 image of the same shape.
 *
 * Formula  out = 255 where in > value, else 0, for each sample by itself. No arithmetic, so all versions agree to the
 *          bit.
 *
 * Parameters   value  0..255, default 128, in gray levels; 255 makes every sample 0. `otsu`: the threshold that the
 *                     algorithm `otsu` finds for this image, by the version of the same rung (cuda/v1.2 of threshold
 *                     calls cuda/v1.2 of otsu; the last rung calls the last).
 *
 * OpenCV   threshold() with THRESH_BINARY and maxval 255 is the same formula; with THRESH_OTSU see otsu.h.
 *
 * Source   Gonzalez and Woods, Digital Image Processing, 4th edition, section 10.3.
 */
#ifndef RUNGS_THRESHOLD_H
#define RUNGS_THRESHOLD_H

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { THRESHOLD_OTSU = -1 };

struct threshold_params {
    int value; /* 0..255 or THRESHOLD_OTSU */
};

/* For CPU versions: the parameter's value, or for THRESHOLD_OTSU what version `otsu` ("cpu/omp") of otsu finds in
 * `in`. */
enum status threshold_value(const struct image *in, const struct threshold_params *params, const char *otsu,
                            int *value);

#ifdef __cplusplus
}
#endif
#endif
