/*
 * Problem:  cpu/serial uses one core, which reads and writes 17 MB in 1.9 ms: 9 GB/s, far below the
 *           memory's bandwidth.
 * Idea:     Rows are independent: each OpenMP thread takes a block of neighbouring rows.
 * Expect:   As many times as fast as there are cores while the image fits in their caches; a larger
 *           image is bandwidth-bound, and 4 to 8 cores use the memory's whole bandwidth.
 * Result:   8.4 times as fast as cpu/serial with 16 threads, 0.23 ms
 *           (results/h100/threshold/threshold_3840x2160.json).
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
