/*
 * Problem:  cpu/serial uses one core, and one core reads and writes 16 MB in 1.6 ms, far below the
 *           bandwidth of the memory.
 * Idea:     Rows do not depend on each other: OpenMP shares them out, a block of neighbouring rows
 *           for each thread.
 * Expect:   Faster by the number of cores while the image fits in their own caches; beyond that the
 *           loop is bandwidth-bound, and 4 to 8 cores use the memory's whole bandwidth.
 * Result:   9.7 times cpu/serial on 16 cores (results/h200/threshold/threshold_3840x2160.json).
 * Run:      make diff-threshold A=cpu/serial B=cpu/omp
 */
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
