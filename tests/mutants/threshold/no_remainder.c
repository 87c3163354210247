/*
 * Idea:     vectors of 16 samples.
 * Changed:  what is left of a row after the last whole vector is forgotten.
 * Expect:   never written | only the last
 */
#include "common/algo/threshold.h"

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    enum status status = STATUS_OK;
    int value;

    TRY(threshold_value(in, params, "cpu/serial", &value));
    for (int y = 0; y < in->height; y++) {
        const uint8_t *from = image_row(in, y);
        uint8_t *to = image_row(out, y);
        for (int x = 0; x < in->width * in->channels / 16 * 16; x++)
            to[x] = from[x] > value ? 255 : 0;
    }
out:
    return status;
}

RUNGS_CPU_VERSION(threshold)
