/*
 * lists.h: the pairs of runs that touch, of a row and the one above, as lists: one of the first pair of each run of the
 * row, one of the rest. No branch depends on whether a word has a pair, or how many.
 */
#ifndef RUNGS_LABELLING_LISTS_H
#define RUNGS_LABELLING_LISTS_H

#include "cpu/labelling/shared/lanes.h"

/* Of one row and the one above. A run's number here is its place in its row, from 1. */
struct list {
    int count;
    uint16_t own[2 * RUNS_MOST + 32], above[2 * RUNS_MOST + 32];
};

struct lists {
    uint16_t words[RUNS_MOST / 32 + 1]; /* those that have pairs */
    struct list links, rest;
};

/* Of each stretch from a start to the next, the lowest pair; a stretch may go on from the word before: `open` says
 * that it does and has met no pair so far. Adding a start to ones carries up to the first zero, which is the lowest
 * pair, or the stretch's last bit. */
SIMD_INLINE uint64_t lists_lowest(uint64_t pairs, uint64_t starts, uint64_t open)
{
    const uint64_t stops = pairs | starts >> 1;

    return (~stops + (starts | open)) & pairs;
}

/* Adds these pairs of a word, at most 32, with the number of runs of each row that begin before it. Overwrites 32. */
SIMD_INLINE void lists_add(struct list *list, uint64_t pairs, uint64_t starts, uint64_t up_starts, int before,
                           int up_before)
{
    uint16_t *own = list->own + list->count, *above = list->above + list->count;

    list->count += __builtin_popcountll(pairs);
#if defined(LANES_AVX512)
    const __m512i ranks = _mm512_maskz_compress_epi8(pairs, lanes_ranks(starts));
    const __m512i up_ranks = _mm512_maskz_compress_epi8(pairs, lanes_ranks(up_starts));
    const __m512i numbers = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(ranks));
    const __m512i up_numbers = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(up_ranks));
    _mm512_storeu_si512(own, _mm512_add_epi16(numbers, _mm512_set1_epi16((short)before)));
    _mm512_storeu_si512(above, _mm512_add_epi16(up_numbers, _mm512_set1_epi16((short)up_before)));
#else
    for (; pairs; pairs &= pairs - 1) {
        const uint64_t up_to = pairs ^ (pairs - 1);
        *own++ = (uint16_t)(before + __builtin_popcountll(starts & up_to));
        *above++ = (uint16_t)(up_before + __builtin_popcountll(up_starts & up_to));
    }
#endif
}

/* The pairs of row y and the row above. A word has at most 32 first ones, and 32 others, each of which begins a run
 * above. */
SIMD_INLINE void lists_make(struct lists *lists, const struct runs *runs, int connectivity, int y)
{
    const uint64_t *row = runs_bits(runs, y), *above = runs_bits(runs, y - 1);
    const uint16_t *before = runs->before + (size_t)y * runs->words, *up_before = before - runs->words;
    int count = 0, last = 0; /* the run of the pair before */

    for (int word = 0; word < runs->words; word++) {
        lists->words[count] = (uint16_t)word;
        count += bits_pairs(row + word, above + word, connectivity) != 0;
    }
    lists->links.count = lists->rest.count = 0;
    for (int k = 0; k < count; k++) {
        const int word = lists->words[k];
        const uint64_t starts = bits_starts(row + word), up_starts = bits_starts(above + word);
        const uint64_t pairs = bits_pairs(row + word, above + word, connectivity);
        const uint64_t links = lists_lowest(pairs, starts, before[word] != last);
        lists_add(&lists->links, links, starts, up_starts, before[word], up_before[word]);
        if (pairs ^ links) /* in photographs at one word in seven */
            lists_add(&lists->rest, pairs ^ links, starts, up_starts, before[word], up_before[word]);
        last = before[word] + __builtin_popcountll(starts & ~(uint64_t)0 >> __builtin_clzll(pairs));
    }
}

#endif
