/*
 * Idea:     The definition as a loop: each sample is compared with the threshold.
 * Expect:   0.1 ms at 1920x1080: the compiler vectorises this loop (-O3), 16 to 64 samples per
 *           comparison, so memory is the limit: 4 MB from the second- or third-level cache.
 * Result:   0.15 ms (results/cpu2/threshold/threshold_1920x1080.json); the reason is not known.
 * Run:      make bench-threshold VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/opencv
 */
#include "common/algo/threshold.h"

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    enum status status = STATUS_OK;
    const int bytes = in->width * in->channels;
    int value;

    TRY(threshold_value(in, params, "cpu/serial", &value));
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
