/*
 * cells.h: the nine cells of a window as the lanes of one vector, for the rungs whose lanes they are.
 */
#ifndef RUNGS_DETECT_STEPS_CELLS_H
#define RUNGS_DETECT_STEPS_CELLS_H

#include "common/algo/detect.h"
#include "common/simd/simd.h"

enum { CELLS_READ = 8 /* bytes that are read of each of the three rows of cells */ };

#if defined(__SSSE3__)

/* Cells in the order 0 1 2 5 8 7 6 3 4, so that the first eight are the bits of an LBP. The first two rows of cells are
 * bytes 0 to 7 and 8 to 15 of one vector, the third those of another. */
static inline __m128i cells_load(const uint8_t *from, size_t row_step, int width)
{
    static const int8_t upper[2][16] = {{0, 1, 2, 10, -1, -1, -1, 8, 9, -1, -1, -1, -1, -1, -1, -1},
                                        {0, 2, 4, 12, -1, -1, -1, 8, 10, -1, -1, -1, -1, -1, -1, -1}};
    static const int8_t lower[2][16] = {{-1, -1, -1, -1, 2, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1},
                                        {-1, -1, -1, -1, 4, 2, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1}};
    const __m128i first = _mm_loadl_epi64((const __m128i *)from);
    const __m128i second = _mm_loadl_epi64((const __m128i *)(from + row_step));
    const __m128i third = _mm_loadl_epi64((const __m128i *)(from + 2 * row_step));
    const __m128i above = _mm_unpacklo_epi64(first, second);

    return _mm_or_si128(_mm_shuffle_epi8(above, _mm_loadu_si128((const __m128i *)upper[width - 1])),
                        _mm_shuffle_epi8(third, _mm_loadu_si128((const __m128i *)lower[width - 1])));
}

/* Bit i: lane i is less than lane k (where `below`) or greater. */
static inline unsigned cells_compare(__m128i cells, int k, bool below)
{
    const __m128i own = _mm_shuffle_epi8(cells, _mm_set1_epi8((char)k));
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    return below ? _mm_cmplt_epu8_mask(cells, own) : _mm_cmpgt_epu8_mask(cells, own);
#else
    const __m128i rest = below ? _mm_subs_epu8(own, cells) : _mm_subs_epu8(cells, own);
    return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(rest, _mm_setzero_si128()));
#endif
}

/* The bin of a stage whose first cell is at `from` of its plane; a row of cells is `row_step` bytes below the one above
 * it. */
static inline int cells_bin(int feature, const struct detect_stage *stage, const uint8_t *from, size_t row_step)
{
    static const uint8_t lane_of[DETECT_CELLS] = {0, 1, 2, 7, 8, 3, 6, 5, 4};
    enum { ALL = 0x1ff, BORDER = 0xff, CENTRE = 8 };
    const __m128i cells = cells_load(from, row_step, stage->width);

    if (feature == DETECT_LBP)
        return (int)(cells_compare(cells, CENTRE, false) & BORDER);
    const int a = __builtin_popcount(cells_compare(cells, lane_of[stage->a], true) & ALL);
    const int b = __builtin_popcount(cells_compare(cells, lane_of[stage->b], true) & ALL);
    return feature == DETECT_LRP ? DETECT_CELLS * a + b : a - b + DETECT_CELLS - 1;
}

#else

static inline int cells_bin(int feature, const struct detect_stage *stage, const uint8_t *from, size_t row_step)
{
    uint8_t cells[DETECT_CELLS];

    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = from[(size_t)(c / 3) * row_step + (size_t)(c % 3 * stage->width)];
    return detect_bin(feature, cells, stage->a, stage->b);
}

#endif
#endif
