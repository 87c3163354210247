/*
 * places.cuh: nodes of a tile in shared memory. Runs of a word begin at least 2 apart, so each of 16 places of a word is
 * for 2 pixels, and a node for a run that begins at either.
 */
#ifndef RUNGS_LABELLING_STEPS_PLACES_CUH
#define RUNGS_LABELLING_STEPS_PLACES_CUH

#include "cuda/labelling/steps/words.cuh"

/* Hangs the runs of a word under their roots. Nobody unites meanwhile, so any ancestor will do that others leave. */
static inline __device__ void flatten(int *tile, int node, unsigned word)
{
    for (unsigned starts = word & ~(word << 1); starts; starts &= starts - 1) {
        int at = node + (__ffs((int)starts) - 1) / 2, root = load_relaxed(&tile[at]), up;
        while ((up = load_relaxed(&tile[root])) != root)
            root = up;
        store_relaxed(&tile[at], root);
    }
}

/* Where the run of a place begins, as a raster index in the image counted from the tile's first pixel on. A row of the
 * tile has so many words, one of the image so many pixels. */
static inline __device__ int pixel_of(const unsigned *words, int place, int tile_words, int width)
{
    unsigned word = words[place / 16];
    int even = place % 16 * 2, bit = word >> even & ~(word << 1 >> even) & 1 ? even : even + 1;

    return place / 16 / tile_words * width + place / 16 % tile_words * 32 + bit;
}

#endif
