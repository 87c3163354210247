/*
 * Idea:     a line buffer for a row of up to 2048 pixels.
 * Changed:  as a ring, whose beginning wider rows overwrite before it is used.
 * Expect:   only the first | only in x 0..0
 * Case:     2049x2051
 */
#include "common/algo/threshold.h"

enum { COLUMNS = 2048 };

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    uint8_t line[3 * COLUMNS];
    enum status status = STATUS_OK;
    int value;

    TRY(threshold_value(in, params, "cpu/serial", &value));
    for (int y = 0; y < in->height; y++) {
        const uint8_t *from = image_row(in, y);
        uint8_t *to = image_row(out, y);
        const int samples = in->width * in->channels, room = COLUMNS * in->channels;

        for (int x = 0; x < samples; x++)
            line[x % room] = from[x] > value ? 255 : 0;
        for (int x = 0; x < samples; x++)
            to[x] = line[x % room];
    }
out:
    return status;
}

RUNGS_CPU_VERSION(threshold)
