/*
 * lbp.h: histograms of local binary patterns (textons), one for each patch of a picture, the contract of every version
 * in cpu/lbp, cuda/lbp and peers/lbp.
 *
 * Input    one u8 picture, 1 channel, at least one patch wide and high.
 * Output   a u16 tensor of rows x columns x 256: bin c of patch (row, column) says how many of its pixels have code c.
 *          With P = patch, rows = ceil(height / P), columns = ceil(width / P). The bins of a patch add up to P * P.
 *
 * Formula  The picture is continued with zeros to the right and below until P divides both sides, and cut into patches
 *          of P x P pixels, each of which is treated alone. The code of pixel p has one bit for each neighbour q,
 *
 *              bit = q >= p,      from the highest:   NW N NE E SE S SW W
 *
 *          A neighbour outside of the patch counts as 0, so its bit is set only where p = 0: the rule of Schoose 2021.
 *          A patch of zeros has P * P pixels of code 255, 256 of them for P = 16: more than 8 bits count.
 *
 * Parameters   patch  side of a patch in pixels: 8, 16 (default) or 32
 *
 * Errors   not u8, not 1 channel, a side smaller than a patch: STATUS_BAD_INPUT.
 *
 * Peers    scikit-image's local_binary_pattern looks at the pixels across the borders of patches and samples diagonal
 *          neighbours between pixels: its codes are others, and it is a yardstick for time alone.
 *
 * Source   M. Schoose, M.-C. Calisto, S. Quesney, A. Leblanc, Rapport GPGPU: Détection de code barre, 2021 (Schoose
 *          2021).
 *          Patterns: T. Ojala, M. Pietikäinen, T. Mäenpää, Multiresolution gray-scale and rotation invariant texture
 *          classification with local binary patterns, PAMI 24(7), 2002.
 */
#ifndef RUNGS_LBP_H
#define RUNGS_LBP_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LBP_BINS = 256, LBP_MAX_PATCH = 32 };

struct lbp_params {
    int patch_index; /* of 8, 16, 32 */
};

/* Pixels of a patch's side. */
static HOST_DEVICE inline int lbp_patch(const struct lbp_params *params)
{
    return 8 << params->patch_index;
}

/* Patches that cover so many pixels. */
static HOST_DEVICE inline int lbp_patches(int pixels, int patch)
{
    return (pixels + patch - 1) / patch;
}

/* The bins of one patch; works for device pointers too. */
static HOST_DEVICE inline uint16_t *lbp_bins(const struct image *out, int row, int column)
{
    return (uint16_t *)image_row(out, row) + (size_t)column * LBP_BINS;
}

#ifdef __cplusplus
}
#endif
#endif
