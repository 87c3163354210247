/*
 * Idea:     every thread counts its share of the rows in a histogram of its own; at the end they are added up.
 * Changed:  one line, the OpenMP pragma above the loop over y: reduction() makes a private copy of all 256 counters for
 *           each thread. With one histogram for all, two threads would lose each other's counts.
 * Expect:   as many times faster than serial as there are cores, for private counters stay in each core's first-level
 *           cache; adding up 256 numbers for each thread and starting the threads is microseconds.
 */
/* Try: make bench-otsu VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/opencv */
#include "common/algo/otsu.h"

static void count(const struct image *in, uint32_t *histogram)
{
#pragma omp parallel for schedule(static) reduction(+ : histogram[:OTSU_BINS])
    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++)
            histogram[row[x]]++;
    }
}

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0};

    (void)params;
    count(in, histogram);
    *(int32_t *)out->data = otsu_threshold(histogram);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
