/*
 * pairs.cuh: a row's pixels, two in a register. A pixel is the high byte of a 16-bit half; what is below it only breaks
 * ties, and so need not be cleared.
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_PAIRS_CUH
#define RUNGS_MORPHOLOGY_STEPS_PAIRS_CUH

#include "common/cuda/device.h"

/* Pixels 4k and 4k + 2 of a row in the high bytes of the halves of at[0][k], 4k + 1 and 4k + 3 in those of at[1][k]. */
template <int WORDS> struct pairs {
    unsigned at[2][WORDS];

    __device__ void set(int k, unsigned word)
    {
        at[0][k] = word << 8;
        at[1][k] = word;
    }
    /* Pixels p and p + 2; past the last word, 0. */
    __device__ unsigned get(int p) const
    {
        const int k = p / 4;
        const unsigned own = k < WORDS ? at[p & 1][k] : 0, next = k + 1 < WORDS ? at[p & 1][k + 1] : 0;

        return p & 2 ? __byte_perm(own, next, 0x5432) : own;
    }
};

#endif
