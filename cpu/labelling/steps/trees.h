/*
 * trees.h: the roots of runs, for the rungs from cpu/links on.
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

#endif
