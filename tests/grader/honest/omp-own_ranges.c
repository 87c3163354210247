// expect: right 10..10 | lacks come one after the other
/* Idea: each thread works out its own rows */
#include <omp.h>

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
    {
        const int threads = omp_get_num_threads(), me = omp_get_thread_num();
        const int from = (int)((long)out->height * me / threads), to = (int)((long)out->height * (me + 1) / threads);

        for (int y = from; y < to; y++)
            gray_row(image_row(in, y), image_row(out, y), out->width);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
