/*
 * Idea:     bytes as the compiler's char.
 * Changed:  which is signed here: 128 to 255 count as less than 0.
 * Expect:   every sample is off by
 * Case:     65x63
 */
#include "common/algo/threshold.h"

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    enum status status = STATUS_OK;
    int value;

    TRY(threshold_value(in, params, "cpu/serial", &value));
    for (int y = 0; y < in->height; y++) {
        const signed char *from = image_row(in, y);
        uint8_t *to = image_row(out, y);
        for (int x = 0; x < in->width * in->channels; x++)
            to[x] = from[x] > (signed char)value ? 255 : 0;
    }
out:
    return status;
}

RUNGS_CPU_VERSION(threshold)
