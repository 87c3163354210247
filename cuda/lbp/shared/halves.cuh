/*
 * halves.cuh: comparisons of pixels as 16-bit floating-point numbers, two in a register: of lbp's v2.1, and of texture.
 *
 * A pixel p becomes the number 1024 + p, whose bits are 0x6400 + p: a permutation of bytes makes it. For a neighbour q
 * the sum q + (1 - p), saturated to 0 ... 1, is 1 where q >= p, else 0: the new bit. A code starts as 4, and 2 code +
 * bit eight times makes it 1024 + code. All of these are integers below 2048, so nothing is rounded.
 */
#ifndef RUNGS_LBP_HALVES_CUH
#define RUNGS_LBP_HALVES_CUH

#include "common/algo/lbp.h"

/* Two neighbouring pixels of a word, bytes 0 and 1 or 2 and 3, a register half each. */
static __device__ inline unsigned lbp_pair(unsigned word, int upper)
{
    return __byte_perm(word, 0x64646464, upper ? 0x4342 : 0x4140);
}

/* lbp_power(): 2^exponent in both halves. lbp_complement(): 1 - p. lbp_pair_bit(): 2 codes + bit. The emulator has no
 * half floats and runs integers of 16 bits instead. */
#if defined(RUNGS_EMULATED)

static __device__ inline unsigned lbp_power(int exponent)
{
    return 0x00010001u << exponent;
}

static __device__ inline unsigned lbp_complement(unsigned pixels)
{
    return pixels;
}

static __device__ inline unsigned lbp_pair_bit(unsigned codes, unsigned neighbours, unsigned complement)
{
    const unsigned lower = (neighbours & 255) >= (complement & 255);
    const unsigned upper = (neighbours >> 16 & 255) >= (complement >> 16 & 255);

    return 2 * codes + lower + (upper << 16);
}

#else

static __device__ inline unsigned lbp_power(int exponent)
{
    return 0x00010001u * (unsigned)(15 + exponent) << 10;
}

static __device__ inline unsigned lbp_complement(unsigned pixels)
{
    unsigned complement;

    asm("sub.f16x2 %0, %1, %2;" : "=r"(complement) : "r"(lbp_power(0)), "r"(pixels));
    return complement;
}

static __device__ inline unsigned lbp_pair_bit(unsigned codes, unsigned neighbours, unsigned complement)
{
    unsigned bit, sum;

    asm("add.sat.f16x2 %0, %1, %2;" : "=r"(bit) : "r"(neighbours), "r"(complement));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(codes), "r"(lbp_power(1)), "r"(bit));
    return sum;
}

#endif

/* A line of a patch: pairs that begin at even pixels, and those that begin a pixel before them, with a pair at the
 * right end. */
template <int PATCH> struct lbp_line {
    unsigned even[PATCH / 2], odd[PATCH / 2 + 1];
};

/* Of words with a word of zeros on either side. */
template <int PATCH>
static __device__ inline void lbp_make_line(const unsigned words[PATCH / 4 + 2], lbp_line<PATCH> &line)
{
    for (int i = 0; i <= PATCH / 2; i++) {
        const int w = i / 2 + 1;
        if (i < PATCH / 2)
            line.even[i] = lbp_pair(words[w], i % 2);
        line.odd[i] = lbp_pair(__byte_perm(words[w - 1], words[w], 0x6543), i % 2);
    }
}

/* Codes of pair i of `own`: bits 0 to 7 and 16 to 23; the others are undefined. */
template <int PATCH>
static __device__ inline unsigned lbp_pair_codes(const lbp_line<PATCH> &above, const lbp_line<PATCH> &own,
                                                 const lbp_line<PATCH> &below, int i)
{
    const unsigned neighbours[] = {above.odd[i],     above.even[i], above.odd[i + 1], own.odd[i + 1],
                                   below.odd[i + 1], below.even[i], below.odd[i],     own.odd[i]};
    const unsigned complement = lbp_complement(own.even[i]);
    unsigned codes = lbp_power(2);

    for (const unsigned neighbour : neighbours)
        codes = lbp_pair_bit(codes, neighbour, complement);
    return codes;
}

#endif
