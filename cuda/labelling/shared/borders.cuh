/*
 * borders.cuh: which runs touch where tiles meet: a thread has one pixel of a tile's first row, or one row of its left
 * side.
 */
#ifndef RUNGS_LABELLING_BORDERS_CUH
#define RUNGS_LABELLING_BORDERS_CUH

#include "cuda/labelling/shared/words.cuh"

/* Whether a pair of runs begins at bit `at` of a word, and then which. */
static __device__ inline bool pair_up(const struct image &in, const unsigned *bits, int column, int y, int at, int grow,
                                      int pair[2])
{
    int width = words_per_row(in), node = y * in.width + 32 * column;
    const unsigned *own = bits + y * width + column, *above = own - width;
    unsigned left = column > 0 ? own[-1] : 0, up_left = column > 0 ? above[-1] : 0;

    pair[0] = node + start_at(*own, left, at);
    pair[1] = node - in.width + start_at(*above, up_left, at);
    return pairs_of(*own, left, *above, up_left, grow) >> at & 1;
}

/* Whether runs touch across a word's left border, and then which. With `inside`, the row above is of the same tiles,
 * and what touches there is united already. */
static __device__ inline bool pair_side(const struct image &in, const unsigned *bits, int column, int y, bool inside,
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

#endif
