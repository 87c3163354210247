/*
 * pairs.cuh: which runs of two rows touch, read off 32 pixels of each at once. Let a run cover its pixels and, for
 * connectivity 8, the one behind them. Two runs touch where both cover a pixel; the first such pixel begins one of them.
 */
#ifndef RUNGS_LABELLING_STEPS_PAIRS_CUH
#define RUNGS_LABELLING_STEPS_PAIRS_CUH

#include "cuda/labelling/steps/words.cuh"

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

#endif
