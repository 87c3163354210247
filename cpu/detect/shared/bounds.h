/*
 * bounds.h: upper bounds of the responses of windows, a byte each.
 *
 * Votes are scaled to -63 to 63 and rounded up, so that a sum of them is never below the scaled response. Thresholds
 * are scaled alike and rounded down: a window whose sum is below one is rejected; of a window whose sum is not, nothing
 * is known. A byte holds at most 127: a lane that has reached BOUNDS_TOP stays there, and is left. A sum below -128
 * wraps, and is left, too.
 */
#ifndef RUNGS_DETECT_STEPS_BOUNDS_H
#define RUNGS_DETECT_STEPS_BOUNDS_H

#include <math.h>

#include "cpu/detect/shared/lanes.h"

enum { BOUNDS_STAGES = 24, BOUNDS_VOTE = 63, BOUNDS_TOP = 64, BOUNDS_BINS = 256 };

typedef int8_t bounds_i8 __attribute__((vector_size(SIMD_BYTES)));

struct bounds {
    int stages;
    int8_t thresholds[BOUNDS_STAGES];
    int8_t votes[BOUNDS_STAGES][BOUNDS_BINS];
};

/* Of the first `stages` stages of the model, as far as there is room. */
static inline void bounds_make(struct bounds *bounds, const struct detect_model *model, int stages)
{
    const float *votes = detect_tables(model);
    const int bins = (int)model->bins;
    float largest = 1e-3f; /* more than 0, to divide by */
    double scale;

    bounds->stages = stages < BOUNDS_STAGES ? stages : BOUNDS_STAGES;
    for (int i = 0; i < bounds->stages * bins; i++)
        if (fabsf(votes[i]) > largest)
            largest = fabsf(votes[i]);
    scale = BOUNDS_VOTE / largest;
    for (int t = 0; t < bounds->stages; t++) {
        /* 24 sums of floats are wrong by less than a thousandth of the largest vote, which is 63 here. */
        const double threshold = floor(scale * detect_stages(model)[t].threshold - 0.1);

        bounds->thresholds[t] = (int8_t)fmax(INT8_MIN, fmin(threshold, BOUNDS_TOP));
        for (int i = 0; i < bins; i++)
            bounds->votes[t][i] = (int8_t)ceil(scale * votes[t * bins + i]);
    }
}

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* Of 64 entries from `from` on, that of the lower six bits of each index; bit4 and bit5 have them as the highest of a
 * byte. */
SIMD_INLINE __m256i bounds_quarter(const int8_t *from, __m256i index, __m256i bit4, __m256i bit5)
{
    const __m256i low = _mm256_and_si256(index, _mm256_set1_epi8(15));
    __m256i found[4];

    for (int i = 0; i < 4; i++)
        found[i] =
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(from + 16 * i))), low);
    return _mm256_blendv_epi8(_mm256_blendv_epi8(found[0], found[1], bit4),
                              _mm256_blendv_epi8(found[2], found[3], bit4), bit5);
}
#endif

/* table[index], byte by byte. */
SIMD_INLINE simd_u8 bounds_look_up(const int8_t table[BOUNDS_BINS], simd_u8 index)
{
#if defined(__AVX512VBMI__)
    const __m512i low =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(table), (__m512i)index, _mm512_loadu_si512(table + 64));
    const __m512i high =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), (__m512i)index, _mm512_loadu_si512(table + 192));
    return (simd_u8)_mm512_mask_mov_epi8(low, _mm512_movepi8_mask((__m512i)index), high);
#elif defined(__AVX2__) && !defined(__AVX512BW__)
    /* A permutation looks into 16 entries by four bits; the others choose among 16 of them, each as the highest bit of
     * a byte. */
    const __m256i own = (__m256i)index, bit6 = _mm256_slli_epi16(own, 1);
    const __m256i bit5 = _mm256_slli_epi16(own, 2), bit4 = _mm256_slli_epi16(own, 3);
    __m256i quarters[4];
    for (int i = 0; i < 4; i++)
        quarters[i] = bounds_quarter(table + 64 * i, own, bit4, bit5);
    return (simd_u8)_mm256_blendv_epi8(_mm256_blendv_epi8(quarters[0], quarters[1], bit6),
                                       _mm256_blendv_epi8(quarters[2], quarters[3], bit6), own);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    uint8x16_t votes = vdupq_n_u8(0);
    for (int i = 0; i < 4; i++) /* an index beyond 63 gives 0 */
        votes = vorrq_u8(
            votes, vqtbl4q_u8(vld1q_u8_x4((const uint8_t *)table + 64 * i), (uint8x16_t)index - (uint8_t)(64 * i)));
    return (simd_u8)votes;
#else
    uint8_t bytes[SIMD_BYTES];
    simd_store(bytes, index);
    for (int i = 0; i < SIMD_BYTES; i++)
        bytes[i] = (uint8_t)table[bytes[i]];
    return simd_load(bytes);
#endif
}

/* Adds the votes of a stage for the bins; bit i: window i may be left. */
SIMD_INLINE uint64_t bounds_decide(const struct bounds *bounds, int stage, bounds_i8 *sums, simd_u8 bins)
{
    const bounds_i8 votes = (bounds_i8)bounds_look_up(bounds->votes[stage], bins);
#if defined(__AVX512BW__)
    const __m512i old = (__m512i)*sums;
    const __m512i sum =
        _mm512_mask_add_epi8(old, _mm512_cmplt_epi8_mask(old, _mm512_set1_epi8(BOUNDS_TOP)), old, (__m512i)votes);
    *sums = (bounds_i8)sum;
    return _mm512_cmpge_epi8_mask(sum, _mm512_set1_epi8(bounds->thresholds[stage]));
#elif defined(__AVX2__)
    const __m256i old = (__m256i)*sums, open = _mm256_cmpgt_epi8(_mm256_set1_epi8(BOUNDS_TOP), old);
    const __m256i sum = _mm256_add_epi8(old, _mm256_and_si256((__m256i)votes, open));
    *sums = (bounds_i8)sum;
    return (uint32_t)~_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(bounds->thresholds[stage]), sum));
#else
    uint64_t left = 0;
    *sums = (bounds_i8)((simd_u8)*sums + (simd_u8)(votes & (*sums < (int8_t)BOUNDS_TOP)));
    const simd_u8 ones = (simd_u8)(*sums >= bounds->thresholds[stage]) & 1;
    for (int i = 0; i < SIMD_BYTES / 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, (const char *)&ones + 8 * i, sizeof bytes);
        left |= (bytes * 0x0102040810204080 >> 56) << 8 * i; /* byte k, which is 0 or 1, becomes bit 56 + k */
    }
    return left;
#endif
}

#endif
