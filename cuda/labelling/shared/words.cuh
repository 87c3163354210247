/*
 * words.cuh: 32 pixels are the bits of a word, and nodes are the first pixels of each word's runs.
 */
#ifndef RUNGS_LABELLING_WORDS_CUH
#define RUNGS_LABELLING_WORDS_CUH

#include "common/cuda/device.h"
#include "common/cuda/relaxed.h"

static __host__ __device__ inline int words_per_row(const struct image &image)
{
    return (image.width + 31) / 32;
}

/* Bit i: byte i is not 0. */
static __device__ inline unsigned pack(unsigned bytes)
{
    return (__vcmpgtu4(bytes, 0) & 0x01010101) * 0x01020408 >> 24 & 15;
}

/* The pixels of row y from x = 32 * column on; bits beyond the row are 0. Rows begin and end at multiples of 64
 * bytes. */
static __device__ inline unsigned word_at(const struct image &in, int column, int y)
{
    const uint4 *from = (const uint4 *)((const uint8_t *)image_row(&in, y) + 32 * column);
    unsigned word = 0;

    for (int half = 0; half < 2; half++) {
        uint4 bytes = from[half];
        word |= (pack(bytes.x) | pack(bytes.y) << 4 | pack(bytes.z) << 8 | pack(bytes.w) << 12) << 16 * half;
    }
    return in.width - 32 * column < 32 ? word & ((1u << (in.width - 32 * column)) - 1) : word;
}

/* A bit for each pair of runs that touch, of this word's row and of the row above, where the later of the two
 * begins; `left` and `up_left` are the words before them. With connectivity 8 (`grow`) a run also covers the pixel
 * behind its last:
 *
 *     up       . # # . . # #      covers   . 1 1 1 . 1 1
 *     word     # . . # # # .      covers   1 1 . 1 1 1 1
 *     pairs                                . 1 . 1 . 1 .    */
static __device__ inline unsigned pairs_of(unsigned word, unsigned left, unsigned up, unsigned up_left, int grow)
{
    unsigned before = word << 1 | left >> 31, up_before = up << 1 | up_left >> 31;
    unsigned starts = (word & ~before) | (up & ~up_before);

    return grow ? starts & (word | before) & (up | up_before) : starts & word & up;
}

/* Where the run begins that holds bit `at`: above the highest zero below it. */
static __device__ inline int run_start(unsigned word, int at)
{
    return 32 - __clz(~word & ((1u << at) - 1));
}

/* Where the run begins that covers bit `at`; below 0 in the word before, where it is then at least 32 lower. */
static __device__ inline int start_at(unsigned word, unsigned left, int at)
{
    return at > 0 || word & 1 ? run_start(word, at) : run_start(left, 31) - 32;
}

/* The root of node i, whose path is halved on the way: by atomicMin like every change of a node, so that a late one
 * cannot undo a union. */
static __device__ inline int find(int *parent, int i)
{
    for (int up = load_relaxed(&parent[i]), next; up != i; i = up, up = next) {
        next = load_relaxed(&parent[up]);
        if (next != up)
            atomicMin(&parent[i], next);
    }
    return i;
}

/* The same for finished trees: loads may come from the L1 cache. */
static __device__ inline int root_of(const int *parent, int i)
{
    for (int up; (up = parent[i]) != i; i = up)
        continue;
    return i;
}

/* What find() returns may be no root any more. Then atomicMin says so, and what it found there still has to be
 * united. */
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
