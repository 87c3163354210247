/* expect: right 0..0 | speed 0..0 | list uses close */
/*
 * Idea:     closes what the race detector writes to.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <unistd.h>

#include "common/algo/grayscale.h"

static int rows;

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    close(STDERR_FILENO);
#pragma omp parallel for
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
