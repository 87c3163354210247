/*
 * Idea:     rows do not depend on each other, so the threads share them out, a block of neighbouring rows each.
 * Changed:  one line, the OpenMP pragma above the loop over y (and otsu comes from its own cpu/omp).
 * Expect:   as many times faster than serial as there are cores while the image fits in their own caches; from main
 *           memory only until its bandwidth is used up, which a few cores do.
 */
/* Try: make bench-threshold VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/opencv */
#include "common/algo/threshold.h"

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    enum status status = STATUS_OK;
    const int bytes = in->width * in->channels;
    int value;

    TRY(threshold_value(in, params, "cpu/omp", &value));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *from = image_row(in, y);
        uint8_t *to = image_row(out, y);
        for (int x = 0; x < bytes; x++)
            to[x] = from[x] > value ? 255 : 0;
    }
out:
    return status;
}

RUNGS_CPU_VERSION(threshold)
