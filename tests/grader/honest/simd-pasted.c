// expect: right 10..10
/* Idea: four pixels a turn, written out by a macro */
#include "common/algo/grayscale.h"

#define PIXEL(k)                                                                                                       \
    const int sum_##k = GRAYSCALE_RED * rgb[3 * (x + k)] + GRAYSCALE_GREEN * rgb[3 * (x + k) + 1] + GRAYSCALE_BLUE * rgb[3 * (x + k) + 2]; \
    gray[x + k] = (uint8_t)((sum_##k + (1 << (GRAYSCALE_BITS - 1))) >> GRAYSCALE_BITS);

static void gray_row(const uint8_t *rgb, uint8_t *gray, int width)
{
    int x = 0;

    for (; x + 4 <= width; x += 4) {
        PIXEL(0)
        PIXEL(1)
        PIXEL(2)
        PIXEL(3)
    }
    for (; x < width; x++) {
        PIXEL(0)
    }
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
