/*
 * words.cuh: 32 pixels are the bits of a word, and nodes are the first pixels of each word's runs. Union-find as in
 * trees.cuh, but walks shorten the path behind them.
 */
#ifndef RUNGS_LABELLING_STEPS_WORDS_CUH
#define RUNGS_LABELLING_STEPS_WORDS_CUH

#include "common/cuda/device.h"
#include "common/cuda/relaxed.h"

static inline __host__ __device__ int words_per_row(const struct image &image)
{
    return (image.width + 31) / 32;
}

/* Halves paths on the way, by atomicMin like every change of a node, so that a late one cannot undo a union. */
static inline __device__ int find(int *parent, int i)
{
    for (int up = load_relaxed(&parent[i]), next; up != i; i = up, up = next) {
        next = load_relaxed(&parent[up]);
        if (next != up)
            atomicMin(&parent[i], next);
    }
    return i;
}

/* What find() gives may be no root any more. Then atomicMin says so, and what it found there still has to be united. */
static inline __device__ void unite(int *parent, int a, int b)
{
    while ((a = find(parent, a)) != (b = find(parent, b))) {
        int smaller = min(a, b), larger = max(a, b), old = atomicMin(&parent[larger], smaller);
        if (old == larger)
            return;
        a = old;
        b = smaller;
    }
}

/* Where the run begins that holds bit `at`: above the highest zero below it. */
static inline __device__ int run_start(unsigned word, int at)
{
    return 32 - __clz(~word & ((1u << at) - 1));
}

/* Unites the runs of a word with those they touch in the word above and at the corners of those beside that. `here` and
 * `above` are the nodes of the two words' lowest bits. */
static inline __device__ void join_above(int *parent, int here, int above, unsigned word, const unsigned up[3],
                                         int grow)
{
    for (unsigned rest = word, run; rest; rest &= ~run) {
        unsigned low = rest & (0u - rest), touched;
        int own = here + __ffs((int)low) - 1;
        run = rest & ~(rest + low);
        touched = up[1] & (grow ? run | run << 1 | run >> 1 : run);
        for (; touched; touched &= touched + (touched & (0u - touched)))
            unite(parent, own, above + run_start(up[1], __ffs((int)touched) - 1));
        if (grow && run & 1 && up[0] >> 31)
            unite(parent, own, above - 32 + run_start(up[0], 31));
        if (grow && run >> 31 && up[2] & 1)
            unite(parent, own, above + 32);
    }
}

/* Unites what touches across a word's left border: the runs on both sides and, with `corners`, those at one end of it in
 * the row above. A row has so many `words` and pixels; `node` is that of the word's lowest bit. */
static inline __device__ void join_left(int *parent, const unsigned *own, int node, int words, int width, bool corners)
{
    unsigned word = *own, left = own[-1];

    if (word & 1 && left >> 31)
        unite(parent, node, node - 32 + run_start(left, 31));
    if (corners && word & 1 && !(left >> 31) && own[-words - 1] >> 31)
        unite(parent, node, node - width - 32 + run_start(own[-words - 1], 31));
    if (corners && !(word & 1) && left >> 31 && own[-words] & 1)
        unite(parent, node - 32 + run_start(left, 31), node - width);
}

/* Bit i: byte i is not 0. */
static inline __device__ unsigned pack(unsigned bytes)
{
    return (__vcmpgtu4(bytes, 0) & 0x01010101) * 0x01020408 >> 24 & 15;
}

/* The pixels of row y from x = 32 * column on; bits beyond the row are 0. Rows begin and end at multiples of 64 bytes. */
static inline __device__ unsigned word_at(const struct image &in, int column, int y)
{
    const uint4 *from = (const uint4 *)((const uint8_t *)image_row(&in, y) + 32 * column);
    unsigned word = 0;

    for (int half = 0; half < 2; half++) {
        uint4 bytes = from[half];
        word |= (pack(bytes.x) | pack(bytes.y) << 4 | pack(bytes.z) << 8 | pack(bytes.w) << 12) << 16 * half;
    }
    return in.width - 32 * column < 32 ? word & ((1u << (in.width - 32 * column)) - 1) : word;
}

/* The node of pixel (x, y), which is foreground, in an image so wide. */
static inline __device__ int node_of(unsigned word, int x, int y, int width)
{
    return y * width + x / 32 * 32 + run_start(word, x % 32);
}

#endif
