/*
 * places.cuh: nodes of a tile in shared memory. Runs of a word begin at least 2 apart, so each of 16 places of a word is
 * for 2 pixels, and a node for a run that begins at either. A word has 17, so that the same place of 32 words that
 * follow each other lies in 32 banks.
 */
#ifndef RUNGS_LABELLING_STEPS_PLACES_CUH
#define RUNGS_LABELLING_STEPS_PLACES_CUH

#include "cuda/labelling/shared/words.cuh"

enum { PLACES = 17 };

/* The place of the run that begins at bit `start` of the word with this node; from -32 to -1, of the word before it. */
static inline __device__ int place_of(int node, int start)
{
    return node + (start >> 1) + (start >> 31);
}

/* Where the run of a place begins, as a raster index in the image counted from the tile's first pixel on. A row of the
 * tile has so many words, one of the image so many pixels. */
static inline __device__ int pixel_of(const unsigned *words, int place, int tile_words, int width)
{
    int at = place / PLACES, even = place % PLACES * 2;
    unsigned word = words[at];

    return at / tile_words * width + at % tile_words * 32 + even +
           (~word >> even & 1 || (even && word >> (even - 1) & 1));
}

/* Hangs the runs that start at these bits of a word under their roots while nobody unites. Each step is there for others
 * to see, so that those who walk along the same path at the same time halve it for each other. */
static inline __device__ void flatten(int *tile, int node, unsigned starts)
{
    for (; starts; starts &= starts - 1) {
        int at = node + (__ffs((int)starts) - 1) / 2, up = load_relaxed(&tile[at]), next;
        for (; (next = load_relaxed(&tile[up])) != up; up = next)
            atomicMin(&tile[at], next);
    }
}

/* The 8 pixels of row y from x on, which the words of the row hold. */
static inline __device__ unsigned eight_at(const struct image &in, int x, int y)
{
    uint2 bytes = *(const uint2 *)((const uint8_t *)image_row(&in, y) + x);
    unsigned eight = pack(bytes.x) | pack(bytes.y) << 4;

    return in.width - x < 8 ? eight & ((1 << max(in.width - x, 0)) - 1) : eight;
}

/* Of each four lanes the bits of all. */
static inline __device__ unsigned word_of_four(unsigned bits)
{
    bits |= __shfl_xor_sync(0xffffffff, bits, 1);
    return bits | __shfl_xor_sync(0xffffffff, bits, 2);
}

#endif
