/*
 * places.cuh: nodes of a tile in shared memory. Runs of a word begin at least 2 apart, so each of 16 places of a word
 * is for 2 pixels, and a node for a run that begins at either. A word has 17, so that the same place of 32 words that
 * follow each other lies in 32 banks:
 *
 *     bank     0 1 2 ... 15 16 17 18 ... 31 0 1 ...
 *     place    0 1 2 ... 15  -  0  1 ... 14 15 - ...     of word 0, of word 1
 */
#ifndef RUNGS_LABELLING_PLACES_CUH
#define RUNGS_LABELLING_PLACES_CUH

#include "cuda/labelling/shared/words.cuh"

enum { PLACES = 17 };

/* The place of the run that begins at bit `start` of the word with this node; from -32 to -1, of the word before it. */
static __device__ inline int place_of(int node, int start)
{
    return node + (start >> 1) + (start >> 31);
}

/* Where the run of a place begins, as a raster index in the image counted from the tile's first pixel on. A row of the
 * tile has `tile_words` words, one of the image `width` pixels. */
static __device__ inline int pixel_of(const unsigned *words, int place, int tile_words, int width)
{
    int at = place / PLACES, even = place % PLACES * 2;
    unsigned word = words[at];

    return at / tile_words * width + at % tile_words * 32 + even +
           (~word >> even & 1 || (even && word >> (even - 1) & 1));
}

/* Hangs the runs that start at these bits of a word under their roots while no thread unites. Each step is there for
 * others to see, so that those who walk along the same path at the same time halve it for each other. */
static __device__ inline void flatten(int *tile, int node, unsigned starts)
{
    for (; starts; starts &= starts - 1) {
        int at = node + (__ffs((int)starts) - 1) / 2, up = load_relaxed(&tile[at]), next;
        for (; (next = load_relaxed(&tile[up])) != up; up = next)
            atomicMin(&tile[at], next);
    }
}

/* Unites a and b as unite() does, but takes two steps on both walks with two waits, not four, and ends where they
 * meet. */
static __device__ inline void unite_side_by_side(int *parent, int a, int b)
{
    for (;;) {
        int up_a = load_relaxed(&parent[a]), up_b = load_relaxed(&parent[b]);
        int next_a = load_relaxed(&parent[up_a]), next_b = load_relaxed(&parent[up_b]);
        if (up_a == up_b || next_a == next_b)
            return;
        if (next_a != up_a)
            atomicMin(&parent[a], next_a);
        if (next_b != up_b)
            atomicMin(&parent[b], next_b);
        a = next_a;
        b = next_b;
        if (next_a == up_a && next_b == up_b) {
            int smaller = min(a, b), larger = max(a, b), old = atomicMin(&parent[larger], smaller);
            if (old == larger)
                return;
            a = old;
            b = smaller;
        }
    }
}

#endif
