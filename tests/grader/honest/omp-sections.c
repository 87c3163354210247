// expect: right 10..10 | lacks come one after the other
/* Idea: an upper and a lower half */
#include "common/algo/grayscale.h"

static void gray_row(const uint8_t *rgb, uint8_t *gray, int width)
{
    for (int x = 0; x < width; x++)
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
}

static void gray_rows(const struct image *in, struct image *out, int from, int to)
{
    while (from < to) {
        gray_row(image_row(in, from), image_row(out, from), out->width);
        ++from;
    }
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    const int half = out->height / 2;

#pragma omp parallel sections
    {
#pragma omp section
        gray_rows(in, out, 0, half);
#pragma omp section
        gray_rows(in, out, half, out->height);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
