/*
 * trees.h: the roots of runs, and which pairs make a run the child of one above, for the rungs from cpu/links on.
 */
#ifndef RUNGS_LABELLING_STEPS_TREES_H
#define RUNGS_LABELLING_STEPS_TREES_H

#include <stdint.h>

#include "common/simd/simd.h"

/* Two steps are taken always, for nearly all paths are that short. */
SIMD_INLINE int32_t find(const int32_t *parent, int32_t i)
{
    int32_t root = parent[parent[i]];

    while (parent[root] != root)
        root = parent[root];
    return root;
}

SIMD_INLINE void unite(int32_t *parent, int32_t i, int32_t k)
{
    const int32_t a = find(parent, i), b = find(parent, k), root = a < b ? a : b;

    parent[a] = parent[b] = parent[i] = parent[k] = root;
}

/* Of each stretch from a start to the next, the lowest pair; a stretch may go on from the word before: `open` says that it
 * does and has met no pair so far. Adding a start to ones carries up to the first zero, which is the lowest pair, or the
 * stretch's last bit. */
SIMD_INLINE uint64_t lowest_of_each(uint64_t pairs, uint64_t starts, uint64_t *open)
{
    const uint64_t stops = pairs | starts >> 1, sum = ~stops + (starts | *open);

    *open = sum < ~stops;
    return sum & pairs;
}

#endif
