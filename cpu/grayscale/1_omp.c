/*
 * Problem:  Compute-bound: one core executes 14 instructions per pixel.
 * Idea:     Rows are independent, so each thread takes a block of neighbouring rows.
 *           schedule(static), because all rows cost the same.
 * Expect:   The speedup is the number of cores: two cores use 7 of the memory's 60 GB/s.
 * Result:   1.86 times as fast as cpu/serial with 2 threads
 *           (results/cpu2/grayscale/grayscale_1920x1080.json), 11 times with 16
 *           (results/h100/grayscale/grayscale_3840x2160.json).
 * Run:      make diff-grayscale A=cpu/serial B=cpu/omp
 */
#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
