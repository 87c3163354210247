/*
 * trees.cuh: union-find that many threads work on at once, in shared or global memory. A node's parent comes before it,
 * or is itself: then it is a root.
 */
#ifndef RUNGS_LABELLING_STEPS_TREES_CUH
#define RUNGS_LABELLING_STEPS_TREES_CUH

#include "common/cuda/device.h"
#include "common/cuda/relaxed.h"

/* The root of node i, while others change trees: parents only become smaller, so that any of them leads upwards. */
static __device__ inline int find(const int *parent, int i)
{
    for (int up; (up = load_relaxed(&parent[i])) != i; i = up)
        continue;
    return i;
}

/* The same for finished trees: loads may come from the L1 cache. */
static __device__ inline int root_of(const int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/* What find() gives may be no root any more. Then atomicMin says so, and what it found there still has to be united. */
static __device__ inline void unite(int *parent, int a, int b)
{
    while ((a = find(parent, a)) != (b = find(parent, b))) {
        int smaller = min(a, b), larger = max(a, b), old = atomicMin(&parent[larger], smaller);
        if (old == larger)
            return;
        a = old;
        b = smaller;
    }
}

#endif
