/*
 * roots.cuh: which of a word's runs are roots.
 */
#ifndef RUNGS_LABELLING_ROOTS_CUH
#define RUNGS_LABELLING_ROOTS_CUH

#include "cuda/labelling/shared/numbers.h"

enum { BLOCK = 256, WARPS = BLOCK / 32 };

/* Bits of a word's roots; `node` is the node of its lowest bit. */
static inline __device__ unsigned roots_of(unsigned word, const int *parent, int node)
{
    unsigned roots = 0;

    for (unsigned starts = word & ~(word << 1); starts; starts &= starts - 1) {
        int bit = __ffs((int)starts) - 1;
        roots |= (unsigned)(parent[node + bit] == node + bit) << bit;
    }
    return roots;
}

static inline int word_count(const struct image *image)
{
    return (image->width + 31) / 32 * image->height;
}

#endif
