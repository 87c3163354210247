/*
 * Idea:     the threshold with the largest variance between the classes.
 * Changed:  of equal thresholds the last one is taken, not the first.
 * Expect:   every sample is off by
 */
#include "common/algo/otsu.h"

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0}, pixels = 0, w0 = 0;
    uint64_t sum = 0, s0 = 0;
    struct otsu_score best = {0, 1};
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
        const struct otsu_score score = otsu_score_of(w0, s0, pixels - w0, sum - s0);
        if (score.difference > 0 && !otsu_greater(best, score)) {
            best = score;
            threshold = t;
        }
    }
    *(int32_t *)out->data = threshold;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
