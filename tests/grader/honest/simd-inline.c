// expect: right 10..10
/* Idea: a function that is always inlined, and aligned local arrays */
#include <string.h>

#include "common/algo/grayscale.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE void gray_sixteen(const uint8_t *rgb, uint8_t *gray)
{
    uint8_t copy[48] __attribute__((aligned(64))), result[16];

    memcpy(copy, rgb, sizeof copy);
    for (int x = 0; x < 16; x++)
        result[x] = (uint8_t)((GRAYSCALE_RED * copy[3 * x] + GRAYSCALE_GREEN * copy[3 * x + 1] +
                                 GRAYSCALE_BLUE * copy[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    memcpy(gray, result, sizeof result);
}

static void gray_row(const uint8_t *rgb, uint8_t *gray, int width)
{
    int begin = 0;

    for (; begin + 16 <= width; begin += 16)
        gray_sixteen(rgb + 3 * begin, gray + begin);
    for (int x = begin; x < width; x++)
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel for
    for (int y = 0; y < out->height; y++)
        gray_row(image_row(in, y), image_row(out, y), out->width);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
