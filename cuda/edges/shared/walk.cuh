/*
 * walk.cuh: what a thread that walks down a strip of 4 pixels reads and computes for each row.
 */
#ifndef RUNGS_EDGES_STEPS_WALK_CUH
#define RUNGS_EDGES_STEPS_WALK_CUH

#include "common/algo/edges.h"
#include "common/cuda/border.cuh"

enum { PIXELS = 4 /* of a thread, side by side */, ROWS = 8, NEAR = PIXELS + 2, FAR = PIXELS + 4 };

/* The three words around a thread's pixels: where they are, and which of their bytes lie outside of the picture. */
struct words {
    int source[3];
    unsigned select[3];
};

static __device__ inline struct words words_around(int x, int width)
{
    struct words words;

    for (int i = 0; i < 3; i++) {
        words.source[i] = border_source(x + (i - 1) * PIXELS, width, 4);
        words.select[i] = border_select<1>(x + (i - 1) * PIXELS, width);
    }
    return words;
}

/* Samples x - 2 to x + 5 of row y, the border replicated. */
static __device__ inline void load(const struct image &in, const struct words &words, int x, int y, int samples[FAR])
{
    const uint8_t *row = (const uint8_t *)image_row(&in, min(max(y, 0), in.height - 1));
    unsigned word[3];

    for (int i = 0; i < 3; i++)
        word[i] = __byte_perm(*(const unsigned *)(row + words.source[i]),
                              border_pixel<1>(row, x + (i - 1) * PIXELS, in.width), words.select[i]);
    for (int i = 0; i < FAR; i++)
        samples[i] = word[(i + 2) / 4] >> (i + 2) % 4 * 8 & 0xff;
}

/* Gradients and magnitudes of columns x - 1 to x + 4; outside of the picture a magnitude is 0. */
static __device__ inline void find_magnitudes(const struct image &in, int x, int y, const int above[FAR],
                                              const int own[FAR], const int below[FAR], struct hough_gradient g[NEAR],
                                              int16_t m[NEAR])
{
    for (int i = 0; i < NEAR; i++) {
        const int left = above[i] + 2 * own[i] + below[i], right = above[i + 2] + 2 * own[i + 2] + below[i + 2];
        const bool inside = y >= 0 && y < in.height && x - 1 + i >= 0 && x - 1 + i < in.width;
        g[i].x = right - left;
        g[i].y = below[i] + 2 * below[i + 1] + below[i + 2] - above[i] - 2 * above[i + 1] - above[i + 2];
        m[i] = (int16_t)(inside ? edges_magnitude(g[i]) : 0);
    }
}

#endif
