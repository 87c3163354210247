/*
 * bits.h: 64 pixels as the bits of a word.
 */
#ifndef RUNGS_LABELLING_STEPS_BITS_H
#define RUNGS_LABELLING_STEPS_BITS_H

#include "common/image/image.h"
#include "common/simd/simd.h"
#include "cpu/labelling/shared/tables.h"

#if defined(__AVX512BW__) && defined(__AVX512VBMI2__) && defined(__AVX512VPOPCNTDQ__)
#define BITS_COMPRESS 1 /* instructions that move the bytes of set bits together, and count bits in each lane */
#endif

/* Bit i: byte i is not 0. */
SIMD_INLINE uint64_t bits_nonzero(const uint8_t *from)
{
    uint64_t bits = 0;
#if defined(__AVX512BW__)
    const __m512i bytes = _mm512_loadu_si512(from);
    bits = _mm512_test_epi8_mask(bytes, bytes);
#elif defined(__AVX2__)
    for (int i = 0; i < 2; i++) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)from + i);
        bits |= (uint64_t)(uint32_t)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) << (32 * i);
    }
#elif defined(__SSSE3__)
    for (int i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)from + i);
        bits |= (uint64_t)(~_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) & 0xffff) << (16 * i);
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

#if defined(BITS_COMPRESS)
/* The numbers of the bits that are set, a byte each, from the lowest on. */
SIMD_INLINE __m512i bits_places(uint64_t word)
{
    static const uint8_t numbers[64] __attribute__((aligned(64))) = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    return _mm512_maskz_compress_epi8(word, _mm512_load_si512(numbers));
}
#endif

/* Writes the numbers of the bits that are set plus `base` and returns how many. Overwrites 64 of `to`. */
SIMD_INLINE int bits_edges(uint64_t word, int base, uint16_t *to)
{
#if defined(BITS_COMPRESS)
    const __m512i places = bits_places(word), offset = _mm512_set1_epi16((short)base);
    const __m256i low = _mm512_castsi512_si256(places), high = _mm512_extracti64x4_epi64(places, 1);
    _mm512_storeu_si512(to, _mm512_add_epi16(_mm512_cvtepu8_epi16(low), offset));
    if (__builtin_popcountll(word) > 32)
        _mm512_storeu_si512(to + 32, _mm512_add_epi16(_mm512_cvtepu8_epi16(high), offset));
    return __builtin_popcountll(word);
#elif defined(__AVX2__)
    const int count = __builtin_popcountll(word);
    for (int bit = 0; count && bit < 64; bit += 8) {
        const uint32_t byte = word >> bit & 255;
        const __m128i places = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)tables_places[byte]));
        _mm_storeu_si128((__m128i *)to, _mm_add_epi16(places, _mm_set1_epi16((short)(base + bit))));
        to += __builtin_popcount(byte);
    }
    return count;
#else
    int count = 0;
    for (; word; word &= word - 1)
        to[count++] = (uint16_t)(base + __builtin_ctzll(word));
    return count;
#endif
}

/* The same in 32 bits: writes the numbers of the bits that are set plus `base`, at most 32, and returns how many. Overwrites 40
 * of `to`. */
SIMD_INLINE int bits_positions(uint64_t word, int32_t base, int32_t *to)
{
#if defined(BITS_COMPRESS)
    const __m512i places = bits_places(word), offset = _mm512_set1_epi32(base);
    const __m128i low = _mm512_castsi512_si128(places), high = _mm512_extracti32x4_epi32(places, 1);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(low), offset));
    _mm512_storeu_si512(to + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(high), offset));
    return __builtin_popcountll(word);
#elif defined(__AVX2__)
    const int count = __builtin_popcountll(word);
    if (count <=
        4) { /* of photographs most words: four without asking how many there are, for no branch guesses that */
        for (int i = 0; i < 4; i++, word &= word - 1)
            to[i] = base + (word ? __builtin_ctzll(word) : 64);
        return count;
    }
    for (int bit = 0; bit < 64; bit += 8) {
        const uint32_t byte = word >> bit & 255;
        const __m256i places = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)tables_places[byte]));
        _mm256_storeu_si256((__m256i *)to, _mm256_add_epi32(places, _mm256_set1_epi32(base + bit)));
        to += __builtin_popcount(byte);
    }
    return count;
#else
    int count = 0;
    for (; word; word &= word - 1)
        to[count++] = base + __builtin_ctzll(word);
    return count;
#endif
}

/* The same, for words that mostly have few: with AVX-512 a second vector is stored only where there are more than 16. */
SIMD_INLINE int bits_positions_few(uint64_t word, int32_t base, int32_t *to)
{
#if defined(BITS_COMPRESS)
    const __m512i places = bits_places(word), offset = _mm512_set1_epi32(base);
    const __m128i low = _mm512_castsi512_si128(places), high = _mm512_extracti32x4_epi32(places, 1);
    const int count = __builtin_popcountll(word);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(low), offset));
    if (count > 16)
        _mm512_storeu_si512(to + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(high), offset));
    return count;
#else
    return bits_positions(word, base, to);
#endif
}

#endif
