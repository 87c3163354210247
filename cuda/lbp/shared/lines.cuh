/*
 * lines.cuh: lines of patches, each loaded by one lane: of lbp's v2.0 and v2.1, and of texture.
 */
#ifndef RUNGS_LBP_LINES_CUH
#define RUNGS_LBP_LINES_CUH

#include "common/algo/lbp.h"

/* Lines that a lane has of a patch, and patches that a warp has: at most 128 pixels a lane. */
static HOST_DEVICE constexpr int lbp_lines_of(int patch)
{
    return patch < 32 ? 8 : 4;
}
static HOST_DEVICE constexpr int lbp_patches_of(int patch)
{
    return 32 * lbp_lines_of(patch) / patch;
}

/* What a lane loads in one instruction: at most 16 bytes. */
template <int PATCH> struct alignas(PATCH < 16 ? PATCH : 16) lbp_loaded {
    unsigned words[PATCH / 4];
};

/* Line y of a patch from column x on, as words[1] to words[PATCH / 4]; zeros unless it is `inside` the patch and in the
 * picture. It may read behind a row's last pixel: the pitch of rows is a multiple of 64 bytes. */
template <int PATCH>
static __device__ inline void lbp_load_line(const struct image &in, int x, int y, bool inside,
                                            unsigned words[PATCH / 4 + 2])
{
    lbp_loaded<PATCH> loaded = {};

    if (inside && y < in.height)
        loaded = *(const lbp_loaded<PATCH> *)((const unsigned char *)image_row(&in, y) + x);
    for (int w = 0; w < PATCH / 4; w++) {
        const int left = in.width - x - 4 * w; /* pixels */
        words[w + 1] = loaded.words[w] & (left >= 4 ? ~0u : left > 0 ? (1u << 8 * left) - 1 : 0);
    }
}

#endif
