/*
 * labels.cuh: labels out of finished trees, and 4 of them with one store.
 */
#ifndef RUNGS_LABELLING_STEPS_LABELS_CUH
#define RUNGS_LABELLING_STEPS_LABELS_CUH

#include "common/cuda/device.h"

/* The label of a node; `rank` holds the numbers of roots, or is NULL. Nobody changes trees any more, so that loads may come
 * from the L1 cache. */
static inline __device__ int label_of(const int *parent, const int *rank, int node)
{
    for (int up; (up = parent[node]) != node; node = up)
        continue;
    return rank ? rank[node] : node + 1;
}

/* Writes the labels of 4 pixels of row y from x on, a multiple of 4; those beyond the row are left out. */
static inline __device__ void write_four(const struct image &out, int x, int y, const int four[4])
{
    int *to = (int *)image_row(&out, y) + x;

    if (x + 4 <= out.width)
        *(int4 *)to = make_int4(four[0], four[1], four[2], four[3]);
    else
        for (int i = 0; i < out.width - x; i++)
            to[i] = four[i];
}

#endif
