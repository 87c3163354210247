/*
 * paint.h: a row of labels out of the bits of its pixels and the labels of its runs.
 */
#ifndef RUNGS_LABELLING_STEPS_PAINT_H
#define RUNGS_LABELLING_STEPS_PAINT_H

#include "cpu/labelling/steps/bits.h"
#include "cpu/labelling/steps/runs.h"

#if defined(BITS_COMPRESS)
/* 16 pixels from x on. `labels` begins with that of the run which ended or goes on before them. */
SIMD_INLINE void paint_16(struct image *out, int32_t *row, int x, uint32_t pixels, uint32_t starts,
                          const int32_t *labels)
{
    const __m512i up_to_lane = _mm512_setr_epi32(0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff, 0xfff,
                                                 0x1fff, 0x3fff, 0x7fff, 0xffff);
    const __mmask16 inside = x + 16 <= out->width ? 0xffff : x < out->width ? (1 << (out->width - x)) - 1 : 0;
    const __m512i before = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_set1_epi32((int)starts), up_to_lane));

    _mm512_mask_storeu_epi32(row + x, inside,
                             _mm512_maskz_permutexvar_epi32((__mmask16)pixels, before, _mm512_loadu_si512(labels)));
}
#endif

/* Writes row y. `labels` are those of its runs, with 1 before them and 16 behind that are read, but do not count. */
SIMD_INLINE void paint_row(const struct runs *runs, struct image *out, const int32_t *labels, int y)
{
    const uint64_t *bits = runs->bits + (size_t)y * runs->words;
    int32_t *row = image_row(out, y);
    uint64_t carry = 0;

    labels--; /* the run that the previous pixels ended in */
    for (int word = 0; word < runs->words; word++) {
        const uint64_t starts = bits[word] & ~(bits[word] << 1 | carry);
        carry = bits[word] >> 63;
#if defined(BITS_COMPRESS)
        for (int i = 0; i < 64; i += 16) {
            const uint32_t begin = starts >> i & 0xffff;
            paint_16(out, row, 64 * word + i, bits[word] >> i & 0xffff, begin, labels);
            labels += __builtin_popcount(begin);
        }
#else
        for (int i = 0; i < 64 && 64 * word + i < out->width; i++) {
            labels += starts >> i & 1;
            row[64 * word + i] = bits[word] >> i & 1 ? *labels : 0;
        }
#endif
    }
}

#endif
