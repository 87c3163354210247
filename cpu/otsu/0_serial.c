/*
 * Idea:     Count pixel by pixel how often each of the 256 values occurs (the histogram), then
 *           search the threshold with the largest variance between dark and bright pixels.
 * Expect:   1 ms at 1920x1080: a pixel is a load, and a load, an add and a store of its counter,
 *           one or two cycles. An image of one value takes 5 times as long: the load of a counter
 *           waits 5 cycles for the store before it.
 * Result:   0.74 ms at 1920x1080 (results/cpu2/otsu/otsu_1920x1080.json).
 * Run:      make bench-otsu VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/opencv
 */
#include "common/algo/otsu.h"

static void count(const struct image *in, uint32_t *histogram)
{
    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++)
            histogram[row[x]]++;
    }
}

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0};

    (void)params;
    count(in, histogram);
    *(int32_t *)out->data = otsu_threshold(histogram);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
