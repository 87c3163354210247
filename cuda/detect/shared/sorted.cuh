/*
 * sorted.cuh: the strongest hits of a list in order, by the threads of one block, a multiple of 32 and at least 256.
 */
#ifndef RUNGS_DETECT_STEPS_SORTED_CUH
#define RUNGS_DETECT_STEPS_SORTED_CUH

#include "cuda/detect/shared/hits.h"

enum { SORTED_DIGITS = 256 };

struct sorted_hits {
    uint64_t keys[DETECT_MAX_HITS];
    unsigned histogram[SORTED_DIGITS], count;
    unsigned long long prefix;
};

/* The smallest of the `wanted` largest keys, of which there are more. Eight bits at a time: keys that agree in those above
 * are counted by their next eight, and thread 0 walks down the counts. */
static inline __device__ uint64_t sorted_find_cut(struct sorted_hits *shared, struct hit_list list, unsigned count,
                                                  unsigned wanted)
{
    uint64_t prefix = 0;

    for (int shift = 56; shift >= 0; shift -= 8) {
        if (threadIdx.x < SORTED_DIGITS)
            shared->histogram[threadIdx.x] = 0;
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
            if (shift == 56 || list.keys[i] >> (shift + 8) == prefix >> (shift + 8))
                atomicAdd(&shared->histogram[list.keys[i] >> shift & (SORTED_DIGITS - 1)], 1u);
        __syncthreads();
        if (threadIdx.x == 0) {
            int digit = SORTED_DIGITS - 1;
            for (; shared->histogram[digit] < wanted; digit--)
                wanted -= shared->histogram[digit];
            shared->prefix = prefix | (uint64_t)digit << shift;
        }
        __syncthreads();
        prefix = shared->prefix;
    }
    return prefix;
}

/* Fills shared->keys with the strongest hits, at most `maximum`, the strongest first; their number. */
static inline __device__ int sorted_fill(struct sorted_hits *shared, struct hit_list list, int maximum)
{
    const unsigned all = *list.count;
    const int count = min(all, (unsigned)maximum);
    const uint64_t cut = all > (unsigned)maximum ? sorted_find_cut(shared, list, all, count) : 0;
    int size = 1;

    while (size < count)
        size *= 2;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        shared->keys[i] = 0;
    if (threadIdx.x == 0)
        shared->count = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < all; i += blockDim.x)
        if (list.keys[i] >= cut)
            shared->keys[atomicAdd(&shared->count, 1u)] = list.keys[i];
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) { /* bitonic: pair i is that of key `own` and the one a step behind it */
        for (int step = run / 2; step > 0; step /= 2) {
            for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
                const int own = 2 * i - (i & (step - 1));
                const uint64_t key = shared->keys[own], other = shared->keys[own + step];
                if ((key < other) == ((own & run) == 0)) {
                    shared->keys[own] = other;
                    shared->keys[own + step] = key;
                }
            }
            __syncthreads();
        }
    }
    return count;
}

#endif
