/*
 * tile.cuh: a hash table in shared memory for the sums of a tile's components.
 */
#ifndef RUNGS_BOXES_STEPS_TILE_CUH
#define RUNGS_BOXES_STEPS_TILE_CUH

#include "common/cuda/device.h"

enum {
    SLOTS = 512,
    PROBES = 8 /* a tile with more components than fit adds the rest to the table directly */
};

/* Sums of a tile's components, by slot. 32 bits hold them: 8192 pixels * 65534 < 2^32. */
struct tile {
    int label[SLOTS]; /* 0: free */
    int x_min[SLOTS], y_min[SLOTS], x_max[SLOTS], y_max[SLOTS], area[SLOTS];
    unsigned x_sum[SLOTS], y_sum[SLOTS];
};

/* The slot of a label, which it takes if it has none yet; -1 if all where it might be are taken. */
static inline __device__ int find_slot(struct tile *tile, int label)
{
    unsigned slot = label * 2654435761u >> 16;

    for (int probe = 0; probe < PROBES; probe++, slot++) {
        int old = atomicCAS(&tile->label[slot % SLOTS], 0, label);
        if (old == 0 || old == label)
            return slot % SLOTS;
    }
    return -1;
}

#endif
