/*
 * Idea:     rows in parallel, all threads counting in one histogram.
 * Changed:  without a reduction: of two threads with the same value one is lost.
 * Expect:   ThreadSanitizer
 */
#include "common/algo/otsu.h"

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    uint32_t histogram[OTSU_BINS] = {0};
    const int rows = in->height;

    (void)params;
#pragma omp parallel for
    for (int y = 0; y < rows; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++)
            histogram[row[x]]++;
    }
    *(int32_t *)out->data = otsu_threshold(histogram);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
