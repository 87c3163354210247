/*
 * selection.cuh: the largest of many 64-bit keys, in order, by one block: radix select finds the smallest of them, and
 * a bitonic sort in shared memory puts them in order. Keys that differ give one result whatever order they come in.
 */
#ifndef RUNGS_CUDA_SELECTION_CUH
#define RUNGS_CUDA_SELECTION_CUH

#include <stdint.h>

enum { SELECTION_DIGITS = 256 };

/* In shared memory. */
struct selection_room {
    unsigned histogram[SELECTION_DIGITS];
    uint64_t prefix;
};

/* Radix select: the smallest of the `wanted` largest of those of `count` keys that are below `bound`; there must be at
 * least `wanted` (1 or more) of these. Eight bits at a time, from the upper ones on: keys that agree in those above are
 * counted by their next eight, and thread 0 walks down the counts. All threads of the block, 256 or more, call it. */
static __device__ inline uint64_t selection_cut(struct selection_room *room, const uint64_t *keys, unsigned count,
                                                uint64_t bound, unsigned wanted)
{
    uint64_t prefix = 0;

    for (int shift = 56; shift >= 0; shift -= 8) {
        if (threadIdx.x < SELECTION_DIGITS)
            room->histogram[threadIdx.x] = 0;
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
            if (keys[i] < bound && (shift == 56 || keys[i] >> (shift + 8) == prefix >> (shift + 8)))
                atomicAdd(&room->histogram[keys[i] >> shift & (SELECTION_DIGITS - 1)], 1u);
        __syncthreads();
        if (threadIdx.x == 0) {
            int digit = SELECTION_DIGITS - 1;
            for (; room->histogram[digit] < wanted; digit--)
                wanted -= room->histogram[digit];
            room->prefix = prefix | (uint64_t)digit << shift;
        }
        __syncthreads();
        prefix = room->prefix;
    }
    return prefix;
}

/* Bitonic sort (Batcher 1968) of `size` keys in shared memory, a power of two, the largest first. Pair i of a step is a
 * key and the one `step` behind it; runs of 2, 4, 8 ... keys are in order in turn, every second one upside down, so
 * that each with the next is a sequence that falls and rises again. All threads call it, and `keys` are written before
 * a barrier. */
static __device__ inline void selection_sort(uint64_t *keys, int size)
{
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
                const int own = 2 * i - (i & (step - 1));
                const uint64_t key = keys[own], other = keys[own + step];
                if ((key < other) == ((own & run) == 0)) {
                    keys[own] = other;
                    keys[own + step] = key;
                }
            }
            __syncthreads();
        }
    }
}

#endif
