// expect: right 10..10
/* Idea: vectors of gcc: eight pixels of 32 bits */
#include <string.h>

#include "common/algo/grayscale.h"

typedef uint32_t lanes __attribute__((vector_size(32)));

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel for
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        int x = 0;

        for (; x + 8 <= out->width; x += 8) {
            lanes r, g, b;
            for (int i = 0; i < 8; i++) {
                r[i] = rgb[3 * (x + i)];
                g[i] = rgb[3 * (x + i) + 1];
                b[i] = rgb[3 * (x + i) + 2];
            }
            const lanes sum = (GRAYSCALE_RED * r + GRAYSCALE_GREEN * g + GRAYSCALE_BLUE * b + (1 << (GRAYSCALE_BITS - 1))) >> GRAYSCALE_BITS;
            for (int i = 0; i < 8; i++)
                gray[x + i] = (uint8_t)sum[i];
        }
        for (; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
