/*
 * quads.h: a quad is four neighbouring samples of one channel in a 32-bit lane, for dot products of 4 bytes.
 *
 *     gray    g0 g1 g2 g3 | g4 g5 g6 g7 | ...                as in the image
 *     RGB     r0 g0 b0 r1 g1 b1 r2 g2 b2 r3 g3 b3 ...   ->   r0 r1 r2 r3 | g0 g1 g2 g3 | b0 b1 b2 b3 | ...
 *
 * The results at the four places of a quad, its phases, use the same quads by shifted weights, so no sample is shifted:
 *
 *     quads        s0 s1 s2 s3 | s4 s5 s6 s7 | ...
 *     phase 0      w0 w1 w2 w3 | w4 w5 w6 w7 | ...
 *     phase 1       0 w0 w1 w2 | w3 w4 w5 w6 | ...
 */
#ifndef RUNGS_BLUR_QUADS_H
#define RUNGS_BLUR_QUADS_H

#include <string.h>

#include "common/algo/blur.h"
#include "common/simd/simd.h"

enum { MAX_QUADS = (BLUR_MAX_KSIZE + 6) / 4, MAX_PAIRS = (BLUR_MAX_KSIZE + 1) / 2 };

/* The output at place 4n + phase is the sum of quads n to n + MAX_QUADS - 1 by the weights of its phase. */
struct tables {
    simd_u8 across[MAX_QUADS][4]; /* [quad][phase]: its four weights for the output at 4n + phase */
    simd_i16 down[MAX_PAIRS][2];  /* [pair][row]: its two weights for the upper and the lower of two output rows */
};

static inline void make_tables(const uint16_t *weights, int ksize, struct tables *tables)
{
    for (int i = 0; i < MAX_QUADS * 4 * SIMD_BYTES; i++) {
        int quad = i / SIMD_BYTES / 4, phase = i / SIMD_BYTES % 4, tap = 4 * quad + i % 4 - phase;
        tables->across[quad][phase][i % SIMD_BYTES] = (uint8_t)(tap >= 0 && tap < ksize ? weights[tap] : 0);
    }
    for (int i = 0; i < MAX_PAIRS * 2 * (SIMD_BYTES / 2); i++) {
        int pair = i / SIMD_BYTES, row = i / (SIMD_BYTES / 2) % 2, tap = 2 * pair + i % 2 - row;
        tables->down[pair][row][i % (SIMD_BYTES / 2)] = (int16_t)(tap >= 0 && tap < ksize ? weights[tap] : 0);
    }
}

/* GROUP: bytes of RGB that one permutation turns into quads. into_quads: where each byte comes from. */
enum { GROUP = SIMD_PERMUTE_BYTES * 3 / 4 };
static const uint8_t into_quads[64] = {0,  3,  6,  9,  1,  4,  7,  10, 2,  5,  8,  11, 12, 15, 18, 21,
                                       13, 16, 19, 22, 14, 17, 20, 23, 24, 27, 30, 33, 25, 28, 31, 34,
                                       26, 29, 32, 35, 36, 39, 42, 45, 37, 40, 43, 46, 38, 41, 44, 47};
static const uint8_t out_of_quads[64] = {0,  4,  8,  1,  5,  9,  2,  6,  10, 3,  7,  11, 12, 16, 20, 13,
                                         17, 21, 14, 18, 22, 15, 19, 23, 24, 28, 32, 25, 29, 33, 26, 30,
                                         34, 27, 31, 35, 36, 40, 44, 37, 41, 45, 38, 42, 46, 39, 43, 47};

/* Bytes of the result behind its group are not used. */
SIMD_INLINE simd_bytes permuted(const uint8_t *from, const uint8_t order[64])
{
    simd_bytes bytes, places;

    memcpy(&bytes, from, sizeof bytes);
    memcpy(&places, order, sizeof places);
    return simd_permute(bytes, places & (SIMD_PERMUTE_BYTES - 1));
}

/* Makes quads of sample - 128 from `bytes` bytes. Reads and writes up to SIMD_PERMUTE_BYTES more. */
SIMD_INLINE void to_quads(const uint8_t *from, int channels, uint8_t *to, int bytes)
{
    for (int i = 0; channels == 1 && i < bytes; i++)
        to[i] = from[i] ^ 0x80;
    for (int i = 0; channels == 3 && i < bytes; i += GROUP) {
        const simd_bytes group = permuted(from + i, into_quads) ^ 0x80;
        memcpy(to + i, &group, sizeof group);
    }
}

/* Writes exactly `bytes` bytes of a row of the result, and reads up to SIMD_PERMUTE_BYTES more. */
SIMD_INLINE void from_quads(const uint8_t *from, int channels, uint8_t *to, int bytes)
{
    int i = 0;

    for (; channels == 1 && i + SIMD_BYTES <= bytes; i += SIMD_BYTES)
        simd_store(to + i, simd_load(from + i));
    for (; channels == 3 && i < bytes; i += GROUP) {
        const simd_bytes group = permuted(from + i, out_of_quads);
        if (i + GROUP <= bytes) /* a constant size becomes two stores, any other a call */
            memcpy(to + i, &group, GROUP);
        else
            memcpy(to + i, &group, (size_t)(bytes - i));
    }
    if (i >= 0 && i < bytes) /* gcc does not know that bytes is above 0, so that i might be below it */
        memcpy(to + i, from + i, (size_t)(bytes - i));
}

#endif
