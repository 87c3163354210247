/*
 * Idea:     the loop over x works on a vector of pixels at a time, in each of the threads.
 * Changed:  nothing but what the compiler has to know: that rgb and gray do not overlap (restrict), and how long the
 *           row is (a local variable, which no store to gray can change).
 * Expect:   memory is the limit now, not arithmetic: so many times omp as omp was below what the memory can give.
 */
#include "common/algo/grayscale.h"

static void gray_row(const uint8_t *restrict rgb, uint8_t *restrict gray, int width)
{
#pragma omp simd
    for (int x = 0; x < width; x++)
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
