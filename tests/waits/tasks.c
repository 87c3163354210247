/* Right: tasks of OpenMP, and what waits for them. */
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
    int parts[4] = {0}, sum = 0, chain = 0;

#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 4; i++)
#pragma omp task shared(parts)
        {
            rows(in, out, i * out->height / 4, (i + 1) * out->height / 4);
            parts[i] = 1;
        }
#pragma omp taskwait
        for (int i = 0; i < 4; i++)
            sum += parts[i];
#pragma omp taskgroup
        {
#pragma omp task depend(out : chain) shared(chain)
            chain = 1;
#pragma omp task depend(inout : chain) shared(chain)
            chain += 1;
        }
        sum += chain;
#pragma omp taskloop grainsize(3)
        for (int y = 0; y < out->height; y++)
            rows(in, out, y, y + 1);
        rows(in, out, 0, 1);
    }
    return sum == 6 ? STATUS_OK : STATUS_FAILED;
}

RUNGS_CPU_VERSION(grayscale)
