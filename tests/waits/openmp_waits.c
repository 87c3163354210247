/* Right: locks of OpenMP that are tried or taken twice, and values that one thread makes for all. */
#include <omp.h>

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
    omp_nest_lock_t twice;
    omp_lock_t lock;
    int count = 0, begin = 0, last = -1;

    omp_init_nest_lock(&twice);
    omp_init_lock(&lock);
#pragma omp parallel firstprivate(begin)
    {
#pragma omp single copyprivate(begin)
        begin = out->height / 2;
#pragma omp for ordered schedule(static, 1)
        for (int y = 0; y < begin; y++) {
            rows(in, out, y, y + 1);
#pragma omp ordered
            last = y;
            omp_set_nest_lock(&twice);
            omp_set_nest_lock(&twice);
            count++;
            omp_unset_nest_lock(&twice);
            omp_unset_nest_lock(&twice);
        }
#pragma omp for
        for (int y = begin; y < out->height; y++) {
            rows(in, out, y, y + 1);
            while (!omp_test_lock(&lock))
                continue;
            count++;
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&twice);
    return count == out->height && last == out->height / 2 - 1 ? STATUS_OK : STATUS_FAILED;
}

RUNGS_CPU_VERSION(grayscale)
