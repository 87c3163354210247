/*
 * bits.h: 64 pixels as the bits of a word, and which runs of two rows touch.
 */
#ifndef RUNGS_LABELLING_BITS_H
#define RUNGS_LABELLING_BITS_H

#include "common/image/image.h"
#include "common/simd/simd.h"

/* Bit i: byte i is not 0. */
SIMD_INLINE uint64_t bits_nonzero(const uint8_t *from)
{
    uint64_t bits = 0;
#if defined(__AVX512BW__)
    bits = _mm512_test_epi8_mask(_mm512_loadu_si512(from), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
    for (int i = 0; i < 2; i++) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)from + i);
        bits |= (uint64_t)(uint32_t)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) << (32 * i);
    }
#else
    for (int i = 0; i < 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, from + 8 * i, 8);
        bytes = ((bytes & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | bytes; /* bit 7 of each byte that is not 0 */
        bits |= ((bytes >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56) << (8 * i);
    }
#endif
    return bits;
}

/* The pixels of row y from x = 64 * word on; bits beyond the row are 0. Rows end at a multiple of 64 bytes. */
SIMD_INLINE uint64_t bits_of(const struct image *in, int y, int word)
{
    const uint64_t bits = bits_nonzero((const uint8_t *)image_row(in, y) + 64 * word);
    const int left = in->width - 64 * word;

    return left < 64 ? bits & (((uint64_t)1 << left) - 1) : bits;
}

/* Bit i: the pixel to the left of pixel i. */
SIMD_INLINE uint64_t bits_left(const uint64_t *word)
{
    return word[0] << 1 | word[-1] >> 63;
}

/* Bit i: a run begins at pixel i. */
SIMD_INLINE uint64_t bits_starts(const uint64_t *word)
{
    return word[0] & ~bits_left(word);
}

/* One bit for each pair of runs that touch, of a row and the row above, where the later of the two begins. With
 * connectivity 8 a run also covers the pixel behind its last:
 *
 *     above    . # # . . # #      covers   . 1 1 1 . 1 1
 *     row      # . . # # # .      covers   1 1 . 1 1 1 1
 *     pairs                                . 1 . 1 . 1 .    */
SIMD_INLINE uint64_t bits_pairs(const uint64_t *row, const uint64_t *above, int connectivity)
{
    const uint64_t starts = bits_starts(row) | bits_starts(above);

    if (connectivity == 8)
        return starts & (*row | bits_left(row)) & (*above | bits_left(above));
    return starts & *row & *above;
}

#endif
