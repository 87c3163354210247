// expect: right 10..10 | lacks come one after the other
#include "common/algo/grayscale.h"

static void gray_row(const struct image *in, struct image *out, int y)
{
    const uint8_t *rgb = image_row(in, y);
    uint8_t *gray = image_row(out, y);

    for (int x = 0; x < out->width; x++, rgb += 3)
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[0] + GRAYSCALE_GREEN * rgb[1] + GRAYSCALE_BLUE * rgb[2] +
                             (1 << (GRAYSCALE_BITS - 1))) >>
                            GRAYSCALE_BITS);
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel
#pragma omp single nowait
#pragma omp taskloop grainsize(8)
    for (int y = 0; y < out->height; y++)
        gray_row(in, out, y);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
