/* Right: more tasks than the race detector can give other threads time for, one after the other. */
#include "common/algo/grayscale.h"

enum { TASKS = 80000 };

static void pixels(const struct image *in, struct image *out, long begin, long end)
{
    for (long i = begin; i < end; i++) {
        const int x = (int)(i % out->width), y = (int)(i / out->width);
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                             GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                            GRAYSCALE_BITS);
    }
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    const long all = (long)out->width * out->height;

#pragma omp parallel
#pragma omp single
    for (long i = 0; i < TASKS; i++)
#pragma omp task
        pixels(in, out, i * all / TASKS, (i + 1) * all / TASKS);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
