/*
 * lanes.h: the bits of a word as lanes of vectors: where runs begin, how many begin up to each pixel, and its label.
 */
#ifndef RUNGS_LABELLING_LANES_H
#define RUNGS_LABELLING_LANES_H

#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/runs.h"

#if defined(__AVX512BW__) && defined(__AVX512VBMI2__) && defined(__AVX512BITALG__)
#define LANES_AVX512 1 /* instructions that move the bytes of set bits together, and count bits in each byte */
#endif

enum { LANES_BEHIND = 32 }; /* places behind the labels of a row's runs that are read, but do not count */

#if defined(LANES_AVX512)
/* Byte k: how many of the bits 0 to k are set. */
SIMD_INLINE __m512i lanes_ranks(uint64_t word)
{
    const __m512i byte =
        _mm512_setr_epi64(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303, 0x0404040404040404,
                          0x0505050505050505, 0x0606060606060606, 0x0707070707070707);
    const __m512i up_to = _mm512_set1_epi64((long long)0xff7f3f1f0f070301);
    const __m128i low = _mm_cvtsi64_si128((long long)word);
    const uint64_t before = (uint64_t)_mm_cvtsi128_si64(_mm_popcnt_epi8(low)) * 0x0101010101010100;
    const __m512i within = _mm512_and_si512(_mm512_shuffle_epi8(_mm512_broadcastq_epi64(low), byte), up_to);

    return _mm512_add_epi8(_mm512_popcnt_epi8(within), _mm512_shuffle_epi8(_mm512_set1_epi64((long long)before), byte));
}
#endif

/* Writes the numbers of the bits that are set plus `base`, at most 32, and returns how many. Overwrites 32 of `to`. */
SIMD_INLINE int lanes_positions(uint64_t word, int32_t base, int32_t *to)
{
    const int count = __builtin_popcountll(word);
#if defined(LANES_AVX512)
    const __m512i numbers =
        _mm512_setr_epi64(0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110, 0x1f1e1d1c1b1a1918,
                          0x2726252423222120, 0x2f2e2d2c2b2a2928, 0x3736353433323130, 0x3f3e3d3c3b3a3938);
    const __m512i places = _mm512_maskz_compress_epi8(word, numbers);
    const __m128i low = _mm512_castsi512_si128(places), high = _mm512_extracti32x4_epi32(places, 1);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(low), _mm512_set1_epi32(base)));
    if (count > 16) /* in photographs at few words, and a store that is no whole line takes two turns */
        _mm512_storeu_si512(to + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(high), _mm512_set1_epi32(base)));
#else
    for (; word; word &= word - 1)
        *to++ = base + __builtin_ctzll(word);
#endif
    return count;
}

/* Writes the labels of the 64 pixels `bits` from x on, whose left neighbours are `left`, past the caches where `past`.
 * `labels` begins with that of the last run that begins before the word. */
SIMD_INLINE void lanes_write(int32_t *row, int x, int width, uint64_t bits, uint64_t left, const int32_t *labels,
                             bool past)
{
#if defined(LANES_AVX512)
    const int skip = !(bits & left & 1); /* no pixel has labels[0]: the others are at most 32 */
    const __m512i ranks = _mm512_sub_epi8(lanes_ranks(bits & ~left), _mm512_set1_epi8((char)skip));
    const __m512i low = _mm512_loadu_si512(labels + skip), high = _mm512_loadu_si512(labels + skip + 16);
    const __m128i parts[4] = {_mm512_castsi512_si128(ranks), _mm512_extracti32x4_epi32(ranks, 1),
                              _mm512_extracti32x4_epi32(ranks, 2), _mm512_extracti32x4_epi32(ranks, 3)};
    for (int i = 0; i < 4; i++, x += 16) {
        const __m512i rank = _mm512_cvtepu8_epi32(parts[i]);
        const __m512i lanes = _mm512_maskz_permutex2var_epi32((__mmask16)(bits >> 16 * i), low, rank, high);
        const int there = width - x < 0 ? 0 : width - x < 16 ? width - x : 16;
        if (past && there == 16)
            simd_stream(row + x, (simd_u8)lanes);
        else
            _mm512_mask_storeu_epi32(row + x, (__mmask16)((1 << there) - 1), lanes);
    }
#elif defined(__AVX2__) && defined(__BMI2__)
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const uint64_t ones = 0x0101010101010101;
    for (int i = 0; i < 64; i += 8, x += 8) {
        const uint64_t starts = _pdep_u64((bits & ~left) >> i, ones), inside = _pdep_u64(bits >> i, ones) * 255;
        const __m256i rank = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)(starts * ones)));
        const __m256i mask = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)inside));
        const __m256i five = _mm256_loadu_si256((const __m256i *)labels); /* at most 4 runs begin in 8 pixels */
        const __m256i lanes = mask & _mm256_permutevar8x32_epi32(five, rank);
        if (past && x + 8 <= width)
            _mm256_stream_si256((__m256i *)(row + x), lanes); /* vectors are of 64 bytes with AVX-512 alone */
        else
            _mm256_maskstore_epi32(row + x, _mm256_cmpgt_epi32(_mm256_set1_epi32(width - x), lane), lanes);
        labels += __builtin_popcountll(starts);
    }
#else
    (void)past;
    for (int i = 0; i < 64 && x + i < width; i++) {
        labels += bits >> i & ~left >> i & 1;
        row[x + i] = bits >> i & 1 ? *labels : 0;
    }
#endif
}

/* Writes row y. `labels` are those of its runs, with 1 before them and LANES_BEHIND behind that are read, but do not
 * count. `past`: past the caches, for rows at multiples of SIMD_BYTES; a thread that does so ends with
 * simd_stream_end(). */
SIMD_INLINE void lanes_row(const struct runs *runs, struct image *out, const int32_t *labels, int y, bool past)
{
    const uint64_t *bits = runs_bits(runs, y);
    int32_t *row = image_row(out, y);

    labels--;
    for (int word = 0, x = 0; word < runs->words; word++, x += 64) {
        const uint64_t left = bits_left(bits + word);
        if (bits[word] == left && x + 64 <= out->width) { /* no run begins or ends */
            const simd_u8 label = (simd_u8)simd_splat(left & 1 ? (uint32_t)*labels : 0);
            for (int i = 0; i < 64; i += SIMD_BYTES / 4)
                if (past)
                    simd_stream(row + x + i, label);
                else
                    simd_store(row + x + i, label);
        } else {
            lanes_write(row, x, out->width, bits[word], left, labels, past);
            labels += __builtin_popcountll(bits[word] & ~left);
        }
    }
}

/* Whether labels pay to be written past the caches, and lie as that needs it: at 512x512 either way takes as long. */
SIMD_INLINE bool lanes_go_past(const struct image *out)
{
    return out->stride * (size_t)out->height > 1 << 20 && ((uintptr_t)out->data | out->stride) % SIMD_BYTES == 0;
}

#endif
