/*
 * four.cuh: a stage in four windows side by side, whose cells are the four bytes of a word.
 */
#ifndef RUNGS_DETECT_STEPS_FOUR_CUH
#define RUNGS_DETECT_STEPS_FOUR_CUH

#include "cuda/detect/steps/planes.cuh"

/* Of each of the four windows, the number of cells below cell k. */
static inline __device__ unsigned four_ranks(const unsigned cells[DETECT_CELLS], int k)
{
    unsigned ranks = 0, own = 0;

    for (int c = 0; c < DETECT_CELLS; c++)
        own = c == k ? cells[c] : own; /* k is no constant, and registers have no index */
    for (int c = 0; c < DETECT_CELLS; c++)
        ranks += __vsetltu4(cells[c], own);
    return ranks;
}

/* The bins of a stage, a byte each, in the windows at `window` of the first plane, a multiple of 4, and the three behind it. */
static inline __device__ unsigned four_bins(int feature, const struct detect_stage &stage, const uint8_t *window,
                                            int stride, int size)
{
    const uint8_t *from = window + (stage.width - 1 + 2 * (stage.height - 1)) * size + stage.y * stride + stage.x;
    const int skipped = stage.x % 4, last = (skipped + 2 * stage.width + 3) / 4, bits = 8 * stage.width;
    unsigned cells[DETECT_CELLS];

    for (int j = 0; j < 3; j++) {
        const unsigned *row = (const unsigned *)(from - skipped + j * stage.height * stride);
        const unsigned middle = row[min(1, last)];
        const unsigned low = __funnelshift_r(row[0], middle, 8 * skipped);
        const unsigned high = __funnelshift_r(middle, row[last], 8 * skipped);

        cells[3 * j] = low;
        cells[3 * j + 1] = __funnelshift_r(low, high, bits);
        cells[3 * j + 2] = __funnelshift_rc(low, high, 2 * bits);
    }
    if (feature == DETECT_LBP) {
        const int border[] = {0, 1, 2, 5, 8, 7, 6, 3};
        unsigned codes = 0;
        for (int i = 0; i < 8; i++)
            codes |= __vsetgtu4(cells[border[i]], cells[4]) << i;
        return codes;
    }
    const unsigned a = four_ranks(cells, stage.a), b = four_ranks(cells, stage.b);
    return feature == DETECT_LRP ? DETECT_CELLS * a + b : a - b + (DETECT_CELLS - 1) * 0x01010101u;
}

#endif
