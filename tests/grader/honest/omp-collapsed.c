// expect: right 10..10 | lacks come one after the other
/* Idea: two loops as one: tiles to threads */
#include "common/algo/grayscale.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define TILE      32

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel for collapse(2)
    for (int top = 0; top < out->height; top += TILE)
        for (int left = 0; left < out->width; left += TILE)
            for (int y = top; y < MIN(top + TILE, out->height); y++) {
                const uint8_t *rgb = image_row(in, y);
                uint8_t *gray = image_row(out, y);
                for (int x = left; x < MIN(left + TILE, out->width); x++)
                    gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
            }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
