/*
 * Idea:     the means of both classes, and the variance between them, in integers.
 * Changed:  the means are rounded to whole gray levels first.
 * Expect:   every sample is off by
 */
#include "common/algo/otsu.h"

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0}, pixels = 0, w0 = 0;
    uint64_t sum = 0, s0 = 0, best = 0;
    int threshold = 0;

    (void)params;
    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++) {
            histogram[row[x]]++;
            sum += row[x];
            pixels++;
        }
    }
    for (int t = 0; t < OTSU_BINS - 1; t++) {
        w0 += histogram[t];
        s0 += (uint64_t)t * histogram[t];
        if (w0 == 0 || w0 == pixels)
            continue;
        const uint64_t apart = (sum - s0) / (pixels - w0) - s0 / w0;
        const uint64_t variance = (uint64_t)w0 * (pixels - w0) * apart * apart;
        if (variance > best) {
            best = variance;
            threshold = t;
        }
    }
    *(int32_t *)out->data = threshold;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
