// expect: right 10..10 | lacks come one after the other
/* Idea: rows in turn, as threads become free, and the length of a row read once */
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
    const int width = out->width, height = out->height;

#pragma omp parallel for schedule(dynamic, 8) firstprivate(width)
    for (int y = 0; y < height; y++)
        gray_row(image_row(in, y), image_row(out, y), width);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
