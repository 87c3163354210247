/* expect: list GOMP_parallel */
/*
 * Idea:     starts threads by the name that gcc has for that.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"

static int rows;

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);

static void count(void *data)
{
    ++*(int *)data;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    GOMP_parallel(count, &rows, 2, 0);
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
