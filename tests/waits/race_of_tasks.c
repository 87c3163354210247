/* Race: tasks write one place, and nothing orders them. */
#include "common/algo/grayscale.h"

static void rows(const struct image *in, struct image *out, int begin, int end)
{
    for (int y = begin; y < end; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

int last_row;

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel
#pragma omp single
    for (int y = 0; y < out->height; y++)
#pragma omp task
    {
        rows(in, out, y, y + 1);
        last_row = y;
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
