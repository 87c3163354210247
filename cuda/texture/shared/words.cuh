/*
 * words.cuh: codes of four pixels in a register, of a patch in shared memory with a line of zeros above and below it and a word
 * of zeros on either side: of lbp's v2.2, and of texture, which goes on with them in the same kernel.
 */
#ifndef RUNGS_LBP_WORDS_CUH
#define RUNGS_LBP_WORDS_CUH

#include "common/algo/lbp.h"

/* Bytes: the highest bit set where a >= b, the others undefined. In a - b of the lower 7 bits, with bit 7 of a set, no byte
 * borrows from the next. */
static __device__ inline unsigned lbp_at_least(unsigned a, unsigned b)
{
    const unsigned lower = (a | 0x80808080) - (b & 0x7f7f7f7f);

    return (a & ~b) | (~(a ^ b) & lower);
}

/* The bit comes in from the left. */
static __device__ inline unsigned lbp_add_bit(unsigned codes, unsigned neighbours, unsigned pixels)
{
    return codes >> 1 | (lbp_at_least(neighbours, pixels) & 0x80808080);
}

static __device__ inline unsigned lbp_west(const unsigned *word)
{
    return __byte_perm(word[-1], word[0], 0x6543);
}

static __device__ inline unsigned lbp_east(const unsigned *word)
{
    return __byte_perm(word[0], word[1], 0x4321);
}

/* Codes of the four pixels of a word, from the lowest bit, W, to the highest, NW. */
static __device__ inline unsigned lbp_word_codes(const unsigned *word, int pitch)
{
    const unsigned *above = word - pitch, *below = word + pitch;
    unsigned codes = lbp_add_bit(0, lbp_west(word), *word);

    codes = lbp_add_bit(lbp_add_bit(codes, lbp_west(below), *word), *below, *word);
    codes = lbp_add_bit(lbp_add_bit(codes, lbp_east(below), *word), lbp_east(word), *word);
    codes = lbp_add_bit(lbp_add_bit(codes, lbp_east(above), *word), *above, *word);
    return lbp_add_bit(codes, lbp_west(above), *word);
}

/* Words of a patch in shared memory: a line of zeros above and below, a word of zeros on either side. */
static HOST_DEVICE constexpr int lbp_tile_pitch(int patch)
{
    return patch / 4 + 2;
}
static HOST_DEVICE constexpr int lbp_tile_words(int patch)
{
    return (patch + 2) * lbp_tile_pitch(patch);
}

#endif
