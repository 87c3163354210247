/*
 * labelling.h: connected components of a mask, the contract of every version in cpu/labelling, cuda/labelling and
 * peers/labelling.
 *
 * Input    one u8 image, 1 channel: 0 is background, any other value is foreground. At most 2^31-1 pixels, any size
 *          from 1x1.
 * Output   an i32 image of the same size.
 *
 * Formula  Two foreground pixels are neighbours when they differ by at most 1 in x and in y (connectivity 8), or when
 *          |dx| + |dy| = 1 (connectivity 4). A component is a largest set of foreground pixels that paths of neighbours
 *          join. Then
 *
 *              out(x,y) = 0                                                       where in(x,y) = 0
 *              out(x,y) = 1 + min { v * width + u : (u,v) in the component of (x,y) }   elsewhere
 *
 *          The label is the raster index of the component's first pixel, plus 1. It does not depend on the order in
 *          which pixels are visited, so all versions agree to the bit; a union-find in which the smaller root always
 *          wins gives it without renumbering.
 *
 * Parameters   connectivity  8 (default) or 4
 *
 * Errors   not u8, more than 1 channel, more than 2^31-1 pixels: STATUS_BAD_INPUT.
 *
 * Peers    OpenCV. NPP's LabelMarkersUF is not among them: on an H200 (CUDA 13.0) it left a component of 3840x2160
 *          pixels in parts, others in each run, even with its labels followed to their roots
 *          (results/h200/labelling_3840x2160.json of commit c8b7c25).
 *
 * Source   Rosenfeld and Pfaltz, Sequential Operations in Digital Picture Processing, JACM 13(4), 1966 (two scans);
 *          Oliveira and Lotufo, A Study on Connected Components Labeling Algorithms Using GPUs, SIBGRAPI 2010 (the
 *          union-find that Huet 2023 uses).
 */
#ifndef RUNGS_LABELLING_H
#define RUNGS_LABELLING_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct labelling_params {
    int connectivity; /* 8 or 4 */
};

/* For peers that number components in another way (host images): each value above 0 that stands in the foreground is
 * replaced by 1 + the raster index of its first pixel, and the background becomes 0. Values above width * height + 1
 * stay as they are. Fits struct version's `normalise`. */
void labelling_normalise(const struct image in[], struct image *labels, const void *params);

/* What the harness turns patterns and photographs into, in place: a u8 image of 1 channel into a mask. */
void labelling_make_mask(struct image *image);

#ifdef __cplusplus
}
#endif
#endif
