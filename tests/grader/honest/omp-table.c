// expect: right 10..10 | lacks come one after the other
/* Idea: products from tables that the first call fills in, behind a lock of OpenMP */
#include <omp.h>
#include <stdbool.h>

#include "common/algo/grayscale.h"

static int red[256], green[256], blue[256];
static bool filled;

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
#pragma omp parallel
    {
#pragma omp critical(tables)
        if (!filled) {
            for (int i = 0; i < 256; i++) {
                red[i] = GRAYSCALE_RED * i;
                green[i] = GRAYSCALE_GREEN * i;
                blue[i] = GRAYSCALE_BLUE * i + (1 << (GRAYSCALE_BITS - 1));
            }
            filled = true;
        }
#pragma omp for
        for (int y = 0; y < out->height; y++) {
            const uint8_t *rgb = image_row(in, y);
            uint8_t *gray = image_row(out, y);
            for (int x = 0; x < out->width; x++, rgb += 3)
                gray[x] = (uint8_t)((red[rgb[0]] + green[rgb[1]] + blue[rgb[2]]) >> GRAYSCALE_BITS);
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
