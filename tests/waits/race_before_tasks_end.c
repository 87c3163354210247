/* Race: what a task makes is read before anybody waits for it. */
#include "common/algo/grayscale.h"

static void rows(const struct image *in, struct image *out, int begin, int end)
{
    for (int y = begin; y < end; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    int made = 0, found = 0;

#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(made)
        {
            rows(in, out, 0, out->height);
            made = 1;
        }
        found = made;
    }
    return found <= 1 ? STATUS_OK : STATUS_FAILED;
}

RUNGS_CPU_VERSION(grayscale)
