/*
 * paint.h: a row of labels out of the bits of its pixels and the labels of its runs.
 */
#ifndef RUNGS_LABELLING_STEPS_PAINT_H
#define RUNGS_LABELLING_STEPS_PAINT_H

#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/runs.h"

#if defined(BITS_COMPRESS)
#define PAINT_LANES 16

/* 16 pixels from x on. `labels` begins with that of the run which ended or goes on before them. */
SIMD_INLINE void paint_lanes(struct image *out, int32_t *row, int x, uint32_t pixels, uint32_t starts,
                             const int32_t *labels, bool past)
{
    const __m512i up_to_lane = _mm512_setr_epi32(0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff, 0xfff,
                                                 0x1fff, 0x3fff, 0x7fff, 0xffff);
    const __mmask16 inside = x + 16 <= out->width ? 0xffff : x < out->width ? (1 << (out->width - x)) - 1 : 0;
    const __m512i before = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_set1_epi32((int)starts), up_to_lane));
    const __m512i spread = _mm512_maskz_permutexvar_epi32((__mmask16)pixels, before, _mm512_loadu_si512(labels));

    if (past && x + 16 <= out->width)
        simd_stream(row + x, (simd_u8)spread);
    else
        _mm512_mask_storeu_epi32(row + x, inside, spread);
}
#elif defined(__AVX2__)
#define PAINT_LANES 8

/* 8 pixels. There is no instruction that counts the bits of each lane: a table says which of the labels each takes. Eight
 * pixels see at most 5 labels, so that the last place is free for the background's. */
SIMD_INLINE void paint_lanes(struct image *out, int32_t *row, int x, uint32_t pixels, uint32_t starts,
                             const int32_t *labels, bool past)
{
    const uint8_t *places = tables_runs[pixels << 1 | (pixels & ~starts & 1)];
    const __m256i few = _mm256_blend_epi32(_mm256_loadu_si256((const __m256i *)labels), _mm256_setzero_si256(), 0x80);
    const __m256i spread =
        _mm256_permutevar8x32_epi32(few, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)places)));
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    if (past && x + 8 <= out->width)
        _mm256_stream_si256((__m256i *)(row + x), spread);
    else if (x + 8 <= out->width)
        _mm256_storeu_si256((__m256i *)(row + x), spread);
    else
        _mm256_maskstore_epi32(row + x, _mm256_cmpgt_epi32(_mm256_set1_epi32(out->width - x), lane), spread);
}
#endif

/* Writes row y. `labels` are those of its runs, with 1 before them and 16 behind that are read, but do not count.
 * `past`: past the caches where the machine can, for rows at multiples of SIMD_BYTES; a thread that does so ends with
 * simd_stream_end(). */
SIMD_INLINE void paint_row_by(const struct runs *runs, struct image *out, const int32_t *labels, int y, bool past)
{
    const uint64_t *bits = runs->bits + (size_t)y * runs->words;
    int32_t *row = image_row(out, y);
    uint64_t carry = 0;

#if defined(PAINT_LANES)
    labels--; /* the run that the previous pixels ended in */
    for (int word = 0; word < runs->words; word++) {
        const uint64_t left = bits[word] << 1 | carry, starts = bits[word] & ~left;
        if (bits[word] == left && 64 * word + 64 <= out->width) { /* no run begins or ends */
            const int32_t label = carry ? *labels : 0;
            for (int i = 0; past && i < 64; i += SIMD_BYTES / 4)
                simd_stream(row + 64 * word + i, (simd_u8)simd_splat((uint32_t)label));
            for (int x = 64 * word; !past && x < 64 * word + 64; x++)
                row[x] = label;
            continue;
        }
        for (int i = 0; i < 64; i += PAINT_LANES) {
            const uint32_t lanes = (1 << PAINT_LANES) - 1, begin = starts >> i & lanes;
            paint_lanes(out, row, 64 * word + i, bits[word] >> i & lanes, begin, labels, past);
            labels += __builtin_popcount(begin);
        }
        carry = bits[word] >> 63;
    }
#else
    (void)past;
    int x = 0;
    bool inside = false;
    for (int word = 0; word < runs->words; word++) {
        for (uint64_t edges = bits[word] ^ (bits[word] << 1 | carry); edges; edges &= edges - 1) {
            const int edge = 64 * word + __builtin_ctzll(edges);
            const int32_t label = inside ? *labels++ : 0;
            for (; x < edge; x++)
                row[x] = label;
            inside = !inside;
        }
        carry = bits[word] >> 63;
    }
    const int32_t label = inside ? *labels : 0;
    for (; x < out->width; x++)
        row[x] = label;
#endif
}

SIMD_INLINE void paint_row(const struct runs *runs, struct image *out, const int32_t *labels, int y)
{
    paint_row_by(runs, out, labels, y, false);
}

/* The same, past the caches or not. */
SIMD_INLINE void paint_row_or_past(const struct runs *runs, struct image *out, const int32_t *labels, int y, bool past)
{
    if (past)
        paint_row_by(runs, out, labels, y, true);
    else
        paint_row_by(runs, out, labels, y, false);
}

/* Whether labels pay to be written past the caches, and lie as that needs it: at 512x512 either way takes as long. */
SIMD_INLINE bool paint_goes_past(const struct image *out)
{
    return out->stride * (size_t)out->height > 1 << 20 && ((uintptr_t)out->data | out->stride) % SIMD_BYTES == 0;
}

#endif
