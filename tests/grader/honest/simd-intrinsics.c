// expect: right 10..10
/* Idea: AVX2: four pixels of 32 bits in each half, bytes put in place by a shuffle, stores past the caches where they can be */
#include "common/algo/grayscale.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

static void gray_row(const uint8_t *rgb, uint8_t *gray, int width)
{
    int x = 0;
#ifdef __AVX2__
    const __m128i spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m256i byte = _mm256_set1_epi32(255), half = _mm256_set1_epi32(1 << (GRAYSCALE_BITS - 1));
    const __m256i red = _mm256_set1_epi32(GRAYSCALE_RED), green = _mm256_set1_epi32(GRAYSCALE_GREEN),
                  blue = _mm256_set1_epi32(GRAYSCALE_BLUE);

    for (; x + 16 <= width; x += 8) {
        const __m128i low = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(rgb + 3 * x)), spread);
        const __m128i high = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(rgb + 3 * x + 12)), spread);
        const __m256i pixels = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        __m256i sum = _mm256_mullo_epi32(_mm256_and_si256(pixels, byte), red);

        sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(_mm256_and_si256(_mm256_srli_epi32(pixels, 8), byte), green));
        sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(_mm256_and_si256(_mm256_srli_epi32(pixels, 16), byte), blue));
        sum = _mm256_srli_epi32(_mm256_add_epi32(sum, half), GRAYSCALE_BITS);
        const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        _mm_storel_epi64((__m128i *)(void *)(gray + x), _mm_packus_epi16(words, words));
    }
    _mm256_zeroupper();
#endif
    for (; x < width; x++)
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < out->height; y++)
        gray_row(image_row(in, y), image_row(out, y), out->width);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
