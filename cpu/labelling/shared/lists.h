/*
 * lists.h: the pairs of runs that touch, of a row and the one above, as lists: one of the first pair of each run of the row,
 * one of the rest.
 *
 * A run's number here is its place in its row, from 1. Lists are made in two passes over words. The first keeps the words that
 * have pairs, eight at a time with AVX-512, so that what follows asks no word whether it has any; the second takes the pairs of
 * such a word, all at once: the bits of a word say how many runs begin up to each of its pixels.
 */
#ifndef RUNGS_LABELLING_STEPS_LISTS_H
#define RUNGS_LABELLING_STEPS_LISTS_H

#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/runs.h"
#include "cpu/labelling/shared/trees.h"

#if defined(BITS_COMPRESS) && defined(__AVX512BITALG__)
#define LISTS_VECTORS 1
#endif

enum { LISTS_WORDS = RUNS_MOST / 32 + 8, LISTS_PAIRS = 2 * RUNS_MOST + 32 };

struct list {
    int count;
    uint16_t own[LISTS_PAIRS], above[LISTS_PAIRS];
};

/* Of one thread. */
struct lists {
    uint64_t starts[LISTS_WORDS], up_starts[LISTS_WORDS], pairs[LISTS_WORDS]; /* of words with pairs */
    uint64_t own[LISTS_WORDS], above[LISTS_WORDS];                            /* how many runs begin before them */
    struct list links, rest;
};

#if defined(LISTS_VECTORS)
/* In lane i the sum of the lanes before it and of what came before, to which all of them are added. */
SIMD_INLINE __m512i lists_sums(__m512i counts, __m512i *before)
{
    const __m512i zero = _mm512_setzero_si512(), start = *before;
    __m512i sums = _mm512_add_epi64(counts, _mm512_alignr_epi64(counts, zero, 7));

    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 6));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 4));
    *before = _mm512_add_epi64(start, _mm512_permutexvar_epi64(_mm512_set1_epi64(7), sums));
    return _mm512_add_epi64(start, _mm512_sub_epi64(sums, counts));
}

/* Words of pixels, each shifted by one pixel, of which the first comes from the word before. */
SIMD_INLINE __m512i lists_left(const uint64_t *words, __m512i here, __mmask8 there)
{
    const __m512i before = _mm512_maskz_loadu_epi64(there, words - 1);

    return _mm512_or_si512(_mm512_slli_epi64(here, 1), _mm512_srli_epi64(before, 63));
}

/* Byte k: how many of the bits 0 to k are set. */
SIMD_INLINE __m512i lists_ranks(uint64_t word)
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

SIMD_INLINE void lists_ranks_at(uint64_t bits, __m512i ranks, uint64_t before, uint16_t *to)
{
    const __m256i few = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(bits, ranks));

    _mm512_storeu_si512(to, _mm512_add_epi16(_mm512_cvtepu8_epi16(few), _mm512_set1_epi16((short)before)));
}
#endif

/* Keeps the words of a row in which a pair begins. Returns how many. */
SIMD_INLINE int lists_words(struct lists *lists, const uint64_t *row, const uint64_t *up, int words, int connectivity)
{
    int count = 0;
#if defined(LISTS_VECTORS)
    __m512i own = _mm512_setzero_si512(), above = own;
    for (int word = 0; word < words; word += 8) {
        const __mmask8 there = words - word < 8 ? (__mmask8)((1 << (words - word)) - 1) : 0xff;
        const __mmask8 behind = word ? there : there & 0xfe;
        const __m512i x = _mm512_maskz_loadu_epi64(there, row + word), left = lists_left(row + word, x, behind);
        const __m512i y = _mm512_maskz_loadu_epi64(there, up + word), up_left = lists_left(up + word, y, behind);
        const __m512i starts = _mm512_andnot_si512(left, x), up_starts = _mm512_andnot_si512(up_left, y);
        __m512i both = _mm512_and_si512(x, y);
        if (connectivity == 8)
            both = _mm512_and_si512(_mm512_or_si512(x, left), _mm512_or_si512(y, up_left));
        const __m512i pairs = _mm512_and_si512(_mm512_or_si512(starts, up_starts), both);
        const __mmask8 some = _mm512_test_epi64_mask(pairs, pairs);
        const __m512i own_before = lists_sums(_mm512_popcnt_epi64(starts), &own);
        const __m512i above_before = lists_sums(_mm512_popcnt_epi64(up_starts), &above);
        _mm512_storeu_si512(lists->starts + count, _mm512_maskz_compress_epi64(some, starts));
        _mm512_storeu_si512(lists->up_starts + count, _mm512_maskz_compress_epi64(some, up_starts));
        _mm512_storeu_si512(lists->pairs + count, _mm512_maskz_compress_epi64(some, pairs));
        _mm512_storeu_si512(lists->own + count, _mm512_maskz_compress_epi64(some, own_before));
        _mm512_storeu_si512(lists->above + count, _mm512_maskz_compress_epi64(some, above_before));
        count += __builtin_popcount(some);
    }
#else
    uint64_t carry = 0, up_carry = 0, own = 0, above = 0;
    for (int word = 0; word < words; word++) {
        const uint64_t left = row[word] << 1 | carry, up_left = up[word] << 1 | up_carry;
        const uint64_t starts = row[word] & ~left, up_starts = up[word] & ~up_left;
        uint64_t both = row[word] & up[word];
        if (connectivity == 8)
            both = (row[word] | left) & (up[word] | up_left);
        carry = row[word] >> 63;
        up_carry = up[word] >> 63;
        if ((starts | up_starts) & both) {
            lists->starts[count] = starts;
            lists->up_starts[count] = up_starts;
            lists->pairs[count] = (starts | up_starts) & both;
            lists->own[count] = own;
            lists->above[count++] = above;
        }
        own += (uint64_t)__builtin_popcountll(starts);
        above += (uint64_t)__builtin_popcountll(up_starts);
    }
#endif
    return count;
}

/* Adds such pairs of the k-th word, at most 32. Overwrites 32. */
SIMD_INLINE void lists_add(const struct lists *lists, int k, uint64_t pairs, struct list *to)
{
#if defined(LISTS_VECTORS)
    lists_ranks_at(pairs, lists_ranks(lists->starts[k]), lists->own[k], to->own + to->count);
    lists_ranks_at(pairs, lists_ranks(lists->up_starts[k]), lists->above[k], to->above + to->count);
    to->count += __builtin_popcountll(pairs);
#else
    for (; pairs; pairs &= pairs - 1) {
        const uint64_t up_to = pairs ^ (pairs - 1);
        to->own[to->count] = (uint16_t)(lists->own[k] + (uint64_t)__builtin_popcountll(lists->starts[k] & up_to));
        to->above[to->count++] =
            (uint16_t)(lists->above[k] + (uint64_t)__builtin_popcountll(lists->up_starts[k] & up_to));
    }
#endif
}

/* The pairs of row y and the row above. A word has at most 32 first ones, and 32 others, each of which begins a run above. */
SIMD_INLINE void lists_make(struct lists *lists, const struct runs *runs, int connectivity, int y)
{
    const uint64_t *row = runs->bits + (size_t)y * runs->words;
    const int count = lists_words(lists, row, row - runs->words, runs->words, connectivity);
    uint64_t last = 0; /* the run of the pair before */

    lists->links.count = lists->rest.count = 0;
    for (int k = 0; k < count; k++) {
        const uint64_t pairs = lists->pairs[k], starts = lists->starts[k];
        uint64_t open = lists->own[k] != last;
        const uint64_t links = lowest_of_each(pairs, starts, &open);
        lists_add(lists, k, links, &lists->links);
        if (pairs ^ links) /* in photographs at one word in seven */
            lists_add(lists, k, pairs ^ links, &lists->rest);
        last = lists->own[k] + (uint64_t)__builtin_popcountll(starts & ~(uint64_t)0 >> __builtin_clzll(pairs));
    }
}

/* Keeps the words of a row in which a run begins: its starts and, in `own`, which word of the row it is. Returns how many. */
SIMD_INLINE int lists_starts(struct lists *lists, const uint64_t *row, int words)
{
    int count = 0;
#if defined(LISTS_VECTORS)
    __m512i number = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for (int word = 0; word < words; word += 8) {
        const __mmask8 there = words - word < 8 ? (__mmask8)((1 << (words - word)) - 1) : 0xff;
        const __m512i x = _mm512_maskz_loadu_epi64(there, row + word);
        const __m512i starts = _mm512_andnot_si512(lists_left(row + word, x, word ? there : there & 0xfe), x);
        const __mmask8 some = _mm512_test_epi64_mask(starts, starts);
        _mm512_storeu_si512(lists->starts + count, _mm512_maskz_compress_epi64(some, starts));
        _mm512_storeu_si512(lists->own + count, _mm512_maskz_compress_epi64(some, number));
        number = _mm512_add_epi64(number, _mm512_set1_epi64(8));
        count += __builtin_popcount(some);
    }
#else
    uint64_t carry = 0;
    for (int word = 0; word < words; word++) {
        lists->starts[count] = row[word] & ~(row[word] << 1 | carry);
        lists->own[count] = (uint64_t)word;
        count += lists->starts[count] != 0;
        carry = row[word] >> 63;
    }
#endif
    return count;
}

#endif
