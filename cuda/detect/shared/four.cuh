/*
 * four.cuh: a stage in four windows side by side, whose cells are the four bytes of a word.
 */
#ifndef RUNGS_DETECT_STEPS_FOUR_CUH
#define RUNGS_DETECT_STEPS_FOUR_CUH

#include "cuda/detect/shared/planes.cuh"

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

/* The bins of four windows, a byte each. The first cell of the first is `skipped` bytes, less than 4, behind `words`, cells are `width` bytes
 * wide and those of the next row `below` bytes on; a and b are the stage's. */
static inline __device__ unsigned four_bins(int feature, const uint8_t *words, int skipped, int width, int below, int a,
                                            int b)
{
    const int last = (skipped + 2 * width + 3) / 4, bits = 8 * width;
    unsigned cells[DETECT_CELLS];

    for (int j = 0; j < 3; j++) {
        const unsigned *row = (const unsigned *)(words + j * below);
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
    const unsigned ranks = four_ranks(cells, a), others = four_ranks(cells, b);
    return feature == DETECT_LRP ? DETECT_CELLS * ranks + others : ranks - others + (DETECT_CELLS - 1) * 0x01010101u;
}

/* The bins of a stage in the windows at `window` of the first plane, a multiple of 4, and the three behind it. */
static inline __device__ unsigned four_bins(int feature, const struct detect_stage &stage, const uint8_t *window,
                                            int stride, int size)
{
    const uint8_t *from = window + (stage.width - 1 + 2 * (stage.height - 1)) * size + stage.y * stride + stage.x;

    return four_bins(feature, from - stage.x % 4, stage.x % 4, stage.width, stage.height * stride, stage.a, stage.b);
}

#endif
