/*
 * lines.cuh: lines of patches, each loaded by one thread: of lbp's v2.4 and those above it.
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

/* What a lane loads at once, 16 bytes where there are so many. */
template <int PATCH> struct alignas(PATCH < 16 ? PATCH : 16) lbp_loaded {
    unsigned words[PATCH / 4];
};

/* Line y of a patch from column x on, between a word on either side that stays: zeros unless it is `inside` of the patch and of the
 * picture, whose rows have room for whole patches of 16 and, their pitch being a multiple of 64 bytes, of 32 pixels. */
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
