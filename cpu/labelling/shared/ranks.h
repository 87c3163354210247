/*
 * ranks.h: labels of 64 pixels at a time: which run each pixel of a word is in is counted for all of them at once.
 */
#ifndef RUNGS_LABELLING_STEPS_RANKS_H
#define RUNGS_LABELLING_STEPS_RANKS_H

#include "cpu/labelling/shared/lists.h"
#include "cpu/labelling/shared/paint.h"

enum { RANKS_BEHIND = 33 }; /* places behind the labels of a row's runs that are read, but do not count */

#if defined(LISTS_VECTORS)
/* Writes the labels of the word from x on, the pixels `bits`, whose left neighbours are `left`. `labels` begins with that of
 * the run before the word. */
SIMD_INLINE void ranks_word(struct image *out, int32_t *row, int x, uint64_t bits, uint64_t left, const int32_t *labels,
                            bool past)
{
    const uint64_t starts = bits & ~left;
    const bool whole = x + 64 <= out->width;

    if (bits == left && whole) { /* no run begins or ends */
        const simd_u8 label = (simd_u8)simd_splat(left & 1 ? (uint32_t)*labels : 0);
        for (int i = 0; i < 64; i += 16)
            if (past)
                simd_stream(row + x + i, label);
            else
                simd_store(row + x + i, label);
    } else if (whole && __builtin_popcountll(starts) < 32) {
        const __m512i ranks = lists_ranks(starts);
        const __m512i low = _mm512_loadu_si512(labels), high = _mm512_loadu_si512(labels + 16);
        const __m128i parts[4] = {_mm512_castsi512_si128(ranks), _mm512_extracti32x4_epi32(ranks, 1),
                                  _mm512_extracti32x4_epi32(ranks, 2), _mm512_extracti32x4_epi32(ranks, 3)};
        for (int i = 0; i < 4; i++) {
            const __m512i run = _mm512_cvtepu8_epi32(parts[i]);
            const __m512i spread = _mm512_maskz_permutex2var_epi32((__mmask16)(bits >> 16 * i), low, run, high);
            if (past)
                simd_stream(row + x + 16 * i, (simd_u8)spread);
            else
                simd_store(row + x + 16 * i, (simd_u8)spread);
        }
    } else {
        for (int i = 0; i < 64; i += 16) {
            const uint32_t begin = starts >> i & 0xffff;
            paint_lanes(out, row, x + i, bits >> i & 0xffff, begin, labels, past);
            labels += __builtin_popcount(begin);
        }
    }
}
#endif

/* As paint_row_by(), for labels with RANKS_BEHIND places behind them. */
SIMD_INLINE void ranks_row_by(const struct runs *runs, struct image *out, const int32_t *labels, int y, bool past)
{
#if defined(LISTS_VECTORS)
    const uint64_t *bits = runs->bits + (size_t)y * runs->words;
    uint64_t carry = 0;

    labels--; /* the run that the previous pixels ended in */
    for (int word = 0; word < runs->words; word++) {
        const uint64_t left = bits[word] << 1 | carry;
        ranks_word(out, image_row(out, y), 64 * word, bits[word], left, labels, past);
        labels += __builtin_popcountll(bits[word] & ~left);
        carry = bits[word] >> 63;
    }
#else
    paint_row_by(runs, out, labels, y, past);
#endif
}

SIMD_INLINE void ranks_row(const struct runs *runs, struct image *out, const int32_t *labels, int y, bool past)
{
    if (past)
        ranks_row_by(runs, out, labels, y, true);
    else
        ranks_row_by(runs, out, labels, y, false);
}

#endif
