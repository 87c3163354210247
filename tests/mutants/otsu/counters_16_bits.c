/*
 * Idea:     counters of 16 bits, of which twice as many fit into a vector.
 * Changed:  nobody empties them before a value has come 65,536 times.
 * Expect:   every sample is off by
 */
#include "common/algo/otsu.h"

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint16_t counters[OTSU_BINS] = {0};
    uint32_t histogram[OTSU_BINS];

    (void)params;
    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++)
            counters[row[x]]++;
    }
    for (int v = 0; v < OTSU_BINS; v++)
        histogram[v] = counters[v];
    *(int32_t *)out->data = otsu_threshold(histogram);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
