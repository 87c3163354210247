/*
 * words.cuh: a tile's planes filled four pixels at a time, from the pyramid at once; rows of whole words.
 */
#ifndef RUNGS_DETECT_STEPS_WORDS_CUH
#define RUNGS_DETECT_STEPS_WORDS_CUH

#include "cuda/detect/shared/planes.cuh"

/* Bytes of a row of the planes of a tile that has `windows` windows along x. */
static inline HOST_DEVICE int words_stride(int windows, int window)
{
    return (windows + window - 1 + 3) / 4 * 4;
}

/* Five pixels of a row: the four from column x on, and those from x + 1 on. Columns and rows from the picture's last on mean
 * nothing, but what is read stays in it. */
struct words_pixels {
    unsigned own, right;
};

static inline __device__ struct words_pixels words_load(const struct image &levels, int x, int y)
{
    const unsigned *row = (const unsigned *)image_row(&levels, min(y, levels.height - 1));
    const int last = (levels.width - 1) / 4, bits = x % 4 * 8;
    const unsigned low = row[min(x / 4, last)], high = row[min(x / 4 + 1, last)];

    return {__funnelshift_r(low, high, bits), __funnelshift_rc(low, high, bits + 8)};
}

/* The four planes of the tile whose first pixel is at x, y of the pyramid. */
static inline __device__ void words_fill(uint8_t *planes, int stride, int height, const struct image &levels, int x,
                                         int y)
{
    const int words = stride / 4, size = words * height;
    unsigned *to = (unsigned *)planes;

    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const int row = i / words, column = i - row * words;
        const struct words_pixels up = words_load(levels, x + 4 * column, y + row);
        const struct words_pixels down = words_load(levels, x + 4 * column, y + row + 1);
        const unsigned even = 0x00ff00ff, two = 0x00020002;
        const unsigned sums = (up.own & even) + (up.right & even) + (down.own & even) + (down.right & even) + two;
        const unsigned odd_sums =
            (up.own >> 8 & even) + (up.right >> 8 & even) + (down.own >> 8 & even) + (down.right >> 8 & even) + two;

        to[i] = up.own;
        to[size + i] = __vavgu4(up.own, up.right);
        to[2 * size + i] = __vavgu4(up.own, down.own);
        to[3 * size + i] = (sums >> 2 & even) | (odd_sums >> 2 & even) << 8;
    }
}

#endif
