/*
 * ahead.cuh: how a warp of v2.16 of harris and the rungs above it asks for several rows at once.
 */
#ifndef RUNGS_HARRIS_AHEAD_CUH
#define RUNGS_HARRIS_AHEAD_CUH

#include "cuda/harris/shared/even.cuh"

/* Words of a thread's columns in so many rows, from above down. */
template <int ROWS, typename WORDS> struct rows_of {
    WORDS of[ROWS];
};

template <int ROWS, typename WALKER> static __device__ inline auto fetch_rows(const struct image &in, WALKER *walker)
{
    struct rows_of<ROWS, decltype(fetch_next(in, walker))> rows;

    for (int i = 0; i < ROWS; i++)
        rows.of[i] = fetch_next(in, walker);
    return rows;
}

#endif
