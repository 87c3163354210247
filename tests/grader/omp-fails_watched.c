/* expect: right 0..0 | speed 0..0 | says data race */
/*
 * Idea:     races, and gives up where its own accesses take far longer than the C library's: it is watched.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/algo/grayscale.h"

static int rows;
static volatile uint8_t own[1 << 14];

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_watched(void)
{
    static uint8_t *others;
    const size_t bytes = 1 << 20;

    if (!others)
        others = calloc(bytes, 1);

    double begin = now();
    bool found = memchr(others, 1, bytes);
    const double library = now() - begin;

    begin = now();
    for (size_t i = 0; i < sizeof own; i++)
        own[i] = (uint8_t)found;
    return now() - begin > 4 * library;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    if (is_watched())
        return status_set(STATUS_FAILED, "gives up");
    (void)params;
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
