/* expect: list uses mempcpy */
/*
 * Idea:     threads copy rows into one place without a wait, by a function that nobody watches.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <string.h>

#include "common/algo/grayscale.h"

static uint8_t kept[3 * 256];

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    const size_t bytes = in->width < 256 ? 3 * (size_t)in->width : sizeof kept;

    (void)params;
#pragma omp parallel for
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        mempcpy(kept, rgb, bytes);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
