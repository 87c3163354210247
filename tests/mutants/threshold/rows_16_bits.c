/*
 * Idea:     rows counted in 16 bits, which a side of 65535 pixels needs.
 * Changed:  with a sign, so that rows from 32768 on are never reached.
 * Expect:   never written
 */
#include "common/algo/threshold.h"

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    enum status status = STATUS_OK;
    const int16_t rows = in->height > INT16_MAX ? INT16_MAX : (int16_t)in->height;
    int value;

    TRY(threshold_value(in, params, "cpu/serial", &value));
    for (int16_t y = 0; y < rows; y++) {
        const uint8_t *from = image_row(in, y);
        uint8_t *to = image_row(out, y);
        for (int x = 0; x < in->width * in->channels; x++)
            to[x] = from[x] > value ? 255 : 0;
    }
out:
    return status;
}

RUNGS_CPU_VERSION(threshold)
