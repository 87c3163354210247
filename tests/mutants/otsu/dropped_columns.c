/*
 * Idea:     eight pixels at a time.
 * Changed:  the remainder of a row, up to seven pixels, is never counted.
 * Expect:   every sample is off by
 */
#include "common/algo/otsu.h"

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0};

    (void)params;
    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width / 8 * 8; x++)
            histogram[row[x]]++;
    }
    *(int32_t *)out->data = otsu_threshold(histogram);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
