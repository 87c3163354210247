/*
 * lines.cuh: the line of four columns of v2.4 of harris, for the rungs above it.
 */
#ifndef RUNGS_HARRIS_LINES_CUH
#define RUNGS_HARRIS_LINES_CUH

#include "cuda/harris/shared/walk.cuh"

enum { COLUMNS = 4 /* of a thread: a word of pixels */, STRIP = (32 - 2) * COLUMNS /* that a warp gives */ };

/* Of a thread's columns in one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the
 * pixel alone. Pixels are taken as pixel - 128, which differences do not notice. */
struct line {
    int difference[COLUMNS], sum[COLUMNS];
};

template <bool SOBEL> static __device__ struct line make_line(unsigned pixels)
{
    const unsigned word = pixels ^ 0x80808080, left = __shfl_up_sync(0xffffffff, word, 1);
    const unsigned right = __shfl_down_sync(0xffffffff, word, 1);
    const unsigned around[COLUMNS] = {__byte_perm(left, word, 0x6543), word, word >> 8,
                                      __byte_perm(word, right, 0x5432)}; /* bytes 0 to 2: left, own, right */
    struct line line;

    for (int i = 0; i < COLUMNS; i++) {
        line.difference[i] = __dp4a((int)around[i], 0x000100ff, 0);
        line.sum[i] = __dp4a((int)around[i], SOBEL ? 0x00010201 : 0x00000100, 0);
    }
    return line;
}

#endif
