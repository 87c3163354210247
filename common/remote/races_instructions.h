/*
 * races_instructions.h: what the race detector's build of a version in C has in the place of instructions that write
 * memory past the compiler's instrumentation (races.c): stores that go past the caches, and stores of some lanes. They
 * do the same by accesses that are seen. gcc's other stores are plain assignments.
 */
#ifndef RUNGS_REMOTE_RACES_INSTRUCTIONS_H
#define RUNGS_REMOTE_RACES_INSTRUCTIONS_H

#ifdef __SSE2__
#include <immintrin.h>
#include <stdint.h>

/* Lanes of `bytes` bytes, those whose bit is set. */
static inline __attribute__((unused)) void races_store_lanes(void *to, uint64_t mask, const void *from, int lanes,
                                                             int bytes)
{
    for (int i = 0; i < lanes * bytes; i++)
        if (mask >> i / bytes & 1)
            ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

#define RACES_STORE_LANES(type, to, mask, value, bytes)                                                                \
    races_store_lanes(to, mask, (type[1]){value}, (int)sizeof(type) / (bytes), bytes)

#define _mm_stream_si32(to, value)  (*(to) = (value))
#define _mm_stream_si64(to, value)  (*(to) = (value))
#define _mm_stream_si128(to, value) _mm_store_si128(to, value)
#define _mm_stream_ps(to, value)    _mm_store_ps(to, value)
#define _mm_stream_pd(to, value)    _mm_store_pd(to, value)
#endif
#ifdef __AVX2__
#define _mm256_stream_si256(to, value) _mm256_store_si256(to, value)
#define _mm256_stream_ps(to, value)    _mm256_store_ps(to, value)
#define _mm256_stream_pd(to, value)    _mm256_store_pd(to, value)

/* A lane is stored where its mask is negative. */
#define RACES_SIGNS_4(mask)                     (uint64_t) _mm_movemask_ps(_mm_castsi128_ps(mask))
#define RACES_SIGNS_8(mask)                     (uint64_t) _mm256_movemask_ps(_mm256_castsi256_ps(mask))
#define _mm_maskstore_epi32(to, mask, value)    RACES_STORE_LANES(__m128i, to, RACES_SIGNS_4(mask), value, 4)
#define _mm_maskstore_ps(to, mask, value)       RACES_STORE_LANES(__m128, to, RACES_SIGNS_4(mask), value, 4)
#define _mm256_maskstore_epi32(to, mask, value) RACES_STORE_LANES(__m256i, to, RACES_SIGNS_8(mask), value, 4)
#define _mm256_maskstore_ps(to, mask, value)    RACES_STORE_LANES(__m256, to, RACES_SIGNS_8(mask), value, 4)
#endif
#ifdef __AVX512F__
#define _mm512_stream_si512(to, value)            _mm512_store_si512(to, value)
#define _mm512_stream_ps(to, value)               _mm512_store_ps(to, value)
#define _mm512_stream_pd(to, value)               _mm512_store_pd(to, value)
#define _mm512_mask_storeu_epi8(to, mask, value)  RACES_STORE_LANES(__m512i, to, mask, value, 1)
#define _mm512_mask_storeu_epi16(to, mask, value) RACES_STORE_LANES(__m512i, to, mask, value, 2)
#define _mm512_mask_storeu_epi32(to, mask, value) RACES_STORE_LANES(__m512i, to, mask, value, 4)
#define _mm512_mask_storeu_ps(to, mask, value)    RACES_STORE_LANES(__m512, to, mask, value, 4)
#endif

#endif
