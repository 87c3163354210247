/*
 * Problem:  One core has too few loads under way: cpu/serial reaches 4.7 % of the host's copy rate.
 * Idea:     Rows are independent, so each thread takes a block of neighbouring rows.
 *           schedule(static), because all rows cost the same.
 * Expect:   2.0 times as fast with 2 threads. With many cores the gain ends where they reach the
 *           copy rate.
 * Result:   8.7 times as fast as cpu/serial with 16 threads, 229 us
 *           (results/h100/absdiff/absdiff_3840x2160.json): 41 % of the copy rate.
 * Run:      make diff-absdiff A=cpu/serial B=cpu/omp
 */
#include <stdlib.h>

#include "common/algo/absdiff.h"

static enum status run(const struct image *in, struct image *out, const struct absdiff_params *params)
{
    const int samples = out->width * out->channels;

    (void)params;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < out->height; y++) {
        const uint8_t *a = image_row(&in[0], y), *b = image_row(&in[1], y);
        uint8_t *row = image_row(out, y);
        for (int i = 0; i < samples; i++)
            row[i] = (uint8_t)abs(a[i] - b[i]);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(absdiff)
