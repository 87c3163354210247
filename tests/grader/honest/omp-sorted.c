// expect: right 10..10 | lacks come one after the other
/* Idea: rows in an order that qsort() made, to try whether it matters, and a check of it */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/algo/grayscale.h"

static void gray_row(const uint8_t *rgb, uint8_t *gray, int width)
{
    for (int x = 0; x < width; x++)
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
}

static int descending(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    int *rows = calloc((size_t)out->height + 1, sizeof *rows);

    if (!rows) {
        fprintf(stderr, "no memory\n");
        return STATUS_NO_MEMORY;
    }
    for (int y = 0; y < out->height; y++)
        rows[y] = y;
    qsort(rows, (size_t)out->height, sizeof *rows, descending);
    assert(out->height == 0 || rows[0] == out->height - 1);
#pragma omp parallel for
    for (int i = 0; i < out->height; i++)
        gray_row(image_row(in, rows[i]), image_row(out, rows[i]), out->width);
    free(rows);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
