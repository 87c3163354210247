// expect: right 10..10
/* Idea: a switch for the rest of a row, and one way out */
#include <stdlib.h>

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
    enum status status = STATUS_OK;
    int *widths = malloc(sizeof *widths);

    if (!widths) {
        status = STATUS_NO_MEMORY;
        goto out;
    }
    *widths = out->width;
#pragma omp parallel for
    for (int y = 0; y < out->height; y++)
        gray_row(image_row(in, y), image_row(out, y), *widths);
out:
    free(widths);
    if (status != STATUS_OK)
        return status;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
