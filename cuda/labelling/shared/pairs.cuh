/*
 * pairs.cuh: which runs of two rows touch, read off 32 pixels of each at once. Let a run cover its pixels and, for
 * connectivity 8, the one behind them. Two runs touch where both cover a pixel; the first such pixel begins one of them.
 */
#ifndef RUNGS_LABELLING_STEPS_PAIRS_CUH
#define RUNGS_LABELLING_STEPS_PAIRS_CUH

#include "cuda/labelling/shared/words.cuh"

/* A bit for each pair of runs, of this word's row and of the row above; `left` and `up_left` are the words before them. A
 * run that comes from there begins there, so within a filled area there are no pairs. */
static inline __device__ unsigned pairs_of(unsigned word, unsigned left, unsigned up, unsigned up_left, int grow)
{
    unsigned before = word << 1 | left >> 31, up_before = up << 1 | up_left >> 31;
    unsigned starts = (word & ~before) | (up & ~up_before);

    return grow ? starts & (word | before) & (up | up_before) : starts & word & up;
}

/* Where the run begins that covers bit `at`; below 0 in the word before, where it is then at least 32 lower. */
static inline __device__ int start_at(unsigned word, unsigned left, int at)
{
    return at > 0 || word & 1 ? run_start(word, at) : run_start(left, 31) - 32;
}

/* Whether a pair of runs begins at bit `at` of a word, and then which. */
static inline __device__ bool pair_up(const struct image &in, const unsigned *bits, int column, int y, int at, int grow,
                                      int pair[2])
{
    int width = words_per_row(in), node = y * in.width + 32 * column;
    const unsigned *own = bits + y * width + column, *above = own - width;
    unsigned left = column > 0 ? own[-1] : 0, up_left = column > 0 ? above[-1] : 0;

    pair[0] = node + start_at(*own, left, at);
    pair[1] = node - in.width + start_at(*above, up_left, at);
    return pairs_of(*own, left, *above, up_left, grow) >> at & 1;
}

/* Whether runs touch across a word's left border, and then which. With `inside`, the row above is of the same tiles, and
 * what touches there is united already. */
static inline __device__ bool pair_side(const struct image &in, const unsigned *bits, int column, int y, bool inside,
                                        int grow, int pair[2])
{
    int width = words_per_row(in), node = y * in.width + 32 * column, above = node - in.width;
    const unsigned *own = bits + y * width + column;
    unsigned left = own[-1], up = inside ? own[-width] : 0, up_left = inside ? own[-width - 1] : 0;
    bool right = *own & 1, up_right = up & 1;

    pair[0] = right ? node : node - 32 + run_start(left, 31);
    pair[1] = right && left >> 31 ? node - 32 + run_start(left, 31)
              : right             ? above - 32 + run_start(up_left, 31)
                                  : above;
    if (right && left >> 31)
        return !(up_right && up_left >> 31);
    return grow && (right ? up_left >> 31 && !up_right : left >> 31 && up_right && !(up_left >> 31));
}

/* Unites the pair of runs that begins at bit `at` of a word, if one does there. */
static inline __device__ void join_up(const struct image &in, const unsigned *bits, int *parent, int column, int y,
                                      int at, int grow)
{
    int pair[2];

    if (pair_up(in, bits, column, y, at, grow, pair))
        unite(parent, pair[0], pair[1]);
}

/* Unites what touches across a word's left border. */
static inline __device__ void join_side(const struct image &in, const unsigned *bits, int *parent, int column, int y,
                                        bool inside, int grow)
{
    int pair[2];

    if (pair_side(in, bits, column, y, inside, grow, pair))
        unite(parent, pair[0], pair[1]);
}

/* Unites a and b as unite() does, but takes two steps on both walks with two waits, not four, and ends where they meet. */
static inline __device__ void unite_side_by_side(int *parent, int a, int b)
{
    for (;;) {
        int up_a = load_relaxed(&parent[a]), up_b = load_relaxed(&parent[b]);
        int next_a = load_relaxed(&parent[up_a]), next_b = load_relaxed(&parent[up_b]);
        if (up_a == up_b || next_a == next_b)
            return;
        if (next_a != up_a)
            atomicMin(&parent[a], next_a);
        if (next_b != up_b)
            atomicMin(&parent[b], next_b);
        a = next_a;
        b = next_b;
        if (next_a == up_a && next_b == up_b) {
            int smaller = min(a, b), larger = max(a, b), old = atomicMin(&parent[larger], smaller);
            if (old == larger)
                return;
            a = old;
            b = smaller;
        }
    }
}

#endif
