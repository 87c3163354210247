/* expect: list names __builtin_constant_p */
/*
 * Idea:     asks how it is compiled.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"

static int rows;

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    const int many = 1 + __builtin_constant_p(rows);
#pragma omp parallel for num_threads(many)
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        rows++;
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
