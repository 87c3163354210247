/*
 * labelling.h: connected components of a mask, the contract of every version in cpu/labelling, cuda/labelling and
 * peers/labelling.
 *
 * Input    one u8 image, 1 channel: 0 is background, any other value is foreground. At most 2^31-1 pixels, any size
 *          from 1x1.
 * Outputs  labels      an i32 image of the same size.
 *          statistics  with statistics=1 only: a table of the components, an i32 image 8 wide and max_components + 1
 *                      high, whose rows are those of boxes.h (label, box, area, centroid) by ascending label. Row 0
 *                      holds how many components there are, also where the rows hold fewer.
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
 *          With consecutive=1 the components are numbered 1, 2, 3 ... by their first pixels, in raster order.
 *
 * Parameters   connectivity    8 (default) or 4
 *              consecutive     0 (default) or 1
 *              statistics      0 (default) or 1
 *              max_components  rows of the table, 1..65534, default 4096
 *
 *          A version that only gives labels as in the formula declines the other two (labelling_labels_only()): the
 *          rungs that show one algorithm each stay free of what is the same for all of them.
 *
 * Hard cases   shapes whose labels have far to travel (spiral, comb, snake, maze), the most components there can be
 *          (checkerboard), and noise of several densities and grains, all with gray values that are not 255.
 *
 * Errors   not u8, more than 1 channel, more than 2^31-1 pixels: STATUS_BAD_INPUT. A version that repeats passes until
 *          one changes nothing ends with STATUS_FAILED when it has made as many as there are pixels (cpu/front_back:
 *          labels) and the last one still changed something.
 *
 * Peers    OpenCV. NPP's LabelMarkersUF is not among them: on an H200 (CUDA 13.0) it left a component of 3840x2160
 *          pixels in parts, others in each run, even with its labels followed to their roots
 *          (results/h200/labelling_3840x2160.json of commit c8b7c25).
 *
 *          cpu/null, null_past and cuda/v0.9 are no labellings but the floor: they read the mask and write labels, and
 *          take masks without foreground; the two of the CPU, for which labels of 0 may be cheaper to store, masks
 *          without background as well.
 *
 * Source   Rosenfeld and Pfaltz, Sequential Operations in Digital Picture Processing, JACM 13(4), 1966 (two scans);
 *          Oliveira and Lotufo, A Study on Connected Components Labeling Algorithms Using GPUs, SIBGRAPI 2010 (the
 *          union-find that Huet 2023 uses); Sundstroem and Aehdel, Is GPGPU CCL worth it?, KTH 2016 (the algorithms of
 *          cuda/v0.1 to v0.8 and of cpu/one_pass to front_back; cited as KTH 2016 there).
 */
#ifndef RUNGS_LABELLING_H
#define RUNGS_LABELLING_H

#include <stdint.h>

#include "common/algo/boxes.h"
#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct labelling_params {
    int connectivity; /* 8 or 4 */
    int consecutive, statistics, max_components;
};

/* For peers that number components in another way (host images): each value above 0 that stands in the foreground is
 * replaced by 1 + the raster index of its first pixel, or by its rank among these where consecutive=1, and the
 * background becomes 0. Values above width * height + 1 stay as they are. The rows of the statistics follow their
 * labels. Fits struct version's `normalise`. */
void labelling_normalise(const struct image in[], struct image out[], const void *params);

/* Why a version that only gives labels as in the formula passes a case over, or NULL. Fits struct version's
 * `declines`. */
static inline const char *labelling_labels_only(const struct image in[], const void *params_erased)
{
    const struct labelling_params *params = (const struct labelling_params *)params_erased;

    (void)in;
    if (params->statistics)
        return "gathers no statistics";
    return params->consecutive ? "does not number components 1, 2, 3 ..." : NULL;
}

/* The same of a version that only gives the right answer where there is no foreground: of a floor that finds
 * nothing. */
const char *labelling_background_only(const struct image in[], const void *params);
/* The same where pixels are all foreground or none is: then labels are all 1, or 0. */
const char *labelling_one_kind_only(const struct image in[], const void *params);

/* What the harness turns patterns and photographs into, in place: a u8 image of 1 channel into a mask. */
void labelling_make_mask(struct image *image);

#ifdef __cplusplus
}
#endif
#endif
