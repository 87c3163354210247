/*
 * lanes.h: neighbouring windows as the lanes of one vector.
 */
#ifndef RUNGS_DETECT_STEPS_LANES_H
#define RUNGS_DETECT_STEPS_LANES_H

#include "common/algo/detect.h"
#include "common/simd/simd.h"

enum { LANES_FLOATS = SIMD_BYTES / 4, LANES_VECTORS = 4 /* of floats for one of bytes */ };

/* Windows x to x + SIMD_BYTES - 1 of a row. */
struct lanes {
    simd_f32 responses[LANES_VECTORS];
    uint64_t alive; /* bit i: window i is not rejected */
};

/* count + 1 in the lanes where a < b. */
SIMD_INLINE simd_u8 lanes_count_less(simd_u8 count, simd_u8 a, simd_u8 b)
{
#if defined(__AVX512BW__)
    const __mmask64 less = _mm512_cmplt_epu8_mask((__m512i)a, (__m512i)b);
    return (simd_u8)_mm512_mask_sub_epi8((__m512i)count, less, (__m512i)count, _mm512_set1_epi8(-1));
#else
    return count - (simd_u8)(a < b);
#endif
}

/* The bins of a stage in all lanes; the first cell of the first window is at `from` of its plane. */
SIMD_INLINE simd_u8 lanes_bins(int feature, const struct detect_stage *stage, const uint8_t *from, size_t row_step)
{
    static const int border[] = {0, 1, 2, 5, 8, 7, 6, 3};
    simd_u8 cells[DETECT_CELLS], first = {0}, second = {0};

    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = simd_load(from + (size_t)(c / 3) * row_step + (size_t)(c % 3 * stage->width));
    if (feature == DETECT_LBP) {
        for (int i = 0; i < 8; i++)
            first |= (simd_u8)(cells[border[i]] > cells[4]) & (uint8_t)(1 << i);
        return first;
    }
    const simd_u8 a = simd_load(from + (size_t)(stage->a / 3) * row_step + (size_t)(stage->a % 3 * stage->width));
    const simd_u8 b = simd_load(from + (size_t)(stage->b / 3) * row_step + (size_t)(stage->b % 3 * stage->width));
    for (int c = 0; c < DETECT_CELLS; c++) {
        first = lanes_count_less(first, cells[c], a);
        second = lanes_count_less(second, cells[c], b);
    }
    return feature == DETECT_LRP ? first * DETECT_CELLS + second : first - second + (DETECT_CELLS - 1);
}

/* Adds to each response what the table has for its bin, and rejects the lanes below the threshold. */
SIMD_INLINE void lanes_decide(struct lanes *lanes, simd_u8 bins, const float *table, int bin_count, float threshold)
{
    uint64_t kept = 0;

#if defined(__AVX512BW__)
    /* 17 entries fit in two registers, which one instruction looks into. */
    const bool small = bin_count <= 32;
    const __m512 low = _mm512_maskz_loadu_ps(small ? 0xffff : 0, table);
    const __m512 high = _mm512_maskz_loadu_ps(small ? (__mmask16)((1u << (bin_count - 16)) - 1) : 0, table + 16);
    uint8_t bytes[SIMD_BYTES];

    simd_store(bytes, bins);
    for (int i = 0; i < LANES_VECTORS; i++) {
        const __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)bytes + i));
        const __m512 votes = small ? _mm512_permutex2var_ps(low, index, high) : _mm512_i32gather_ps(index, table, 4);
        lanes->responses[i] += (simd_f32)votes;
        kept |= (uint64_t)_mm512_cmp_ps_mask((__m512)lanes->responses[i], _mm512_set1_ps(threshold), _CMP_NLT_UQ)
                << i * LANES_FLOATS;
    }
#else
    for (int i = 0; i < SIMD_BYTES; i++) {
        lanes->responses[i / LANES_FLOATS][i % LANES_FLOATS] += table[bins[i]];
        kept |= (uint64_t) !(lanes->responses[i / LANES_FLOATS][i % LANES_FLOATS] < threshold) << i;
    }
    (void)bin_count;
#endif
    lanes->alive &= kept;
}

#endif
