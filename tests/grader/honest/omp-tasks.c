// expect: right 10..10 | lacks come one after the other
/* Idea: a task for each band of rows */
#include "common/algo/grayscale.h"

static void gray_row(const uint8_t *rgb, uint8_t *gray, int width)
{
    for (int x = 0; x < width; x++)
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel
#pragma omp single
    for (int begin = 0; begin < out->height; begin += 16) {
#pragma omp task firstprivate(begin)
        for (int y = begin; y < begin + 16 && y < out->height; y++)
            gray_row(image_row(in, y), image_row(out, y), out->width);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
