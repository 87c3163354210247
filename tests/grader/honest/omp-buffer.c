// expect: right 10..10 | lacks come one after the other
/* Idea: a row is computed in memory of the thread and copied */
#include <stdlib.h>
#include <string.h>

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
    int failures = 0;

#pragma omp parallel reduction(+ : failures)
    {
        uint8_t *row = malloc((size_t)out->width + 1);
        failures += row == NULL;
#pragma omp for
        for (int y = 0; y < out->height; y++) {
            if (!row)
                continue;
            gray_row(image_row(in, y), row, out->width);
            memcpy(image_row(out, y), row, (size_t)out->width);
        }
        free(row);
    }
    if (failures > 0)
        return status_set(STATUS_NO_MEMORY, "no memory for %d rows", failures);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
