/* expect: right 0..0 | speed 0..0 | says more than 64 threads */
/*
 * Idea:     starts sleeping threads until the race detector has no place left, then counts rows in one variable.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <pthread.h>
#include <unistd.h>

#include "common/algo/grayscale.h"

static int rows;

static void *sleep_on(void *argument)
{
    for (;;)
        usleep(100000);
    return argument;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    static pthread_t sleepers[63];

    (void)params;
    for (int i = 0; i < 63 && !sleepers[62]; i++)
        if (pthread_create(&sleepers[i], NULL, sleep_on, NULL) != 0)
            return STATUS_FAILED;
        else if (i == 62)
            usleep(300000); /* until all of them sleep */
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
