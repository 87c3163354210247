// expect: right 10..10 | lacks come one after the other
/* Idea: columns to threads, each thread a strip of all rows */
#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    enum { STRIP = 64 };

#pragma omp parallel for
    for (int begin = 0; begin < out->width; begin += STRIP) {
        const int end = begin + STRIP < out->width ? begin + STRIP : out->width;
        for (int y = 0; y < out->height; y++) {
            const uint8_t *rgb = image_row(in, y);
            uint8_t *gray = image_row(out, y);
            for (int x = begin; x < end; x++)
                gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
