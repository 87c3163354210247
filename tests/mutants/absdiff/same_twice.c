/*
 * Idea:     compares the first image with itself.
 * Changed:  the index of the second image.
 * Expect:   the output is constant: every sample is 0
 */
#include <stdlib.h>

#include "common/algo/absdiff.h"

static enum status run(const struct image *in, struct image *out, const struct absdiff_params *params)
{
    (void)params;
    for (int y = 0; y < out->height; y++) {
        const uint8_t *a = image_row(&in[0], y), *b = image_row(&in[0], y);
        uint8_t *row = image_row(out, y);
        for (int i = 0; i < out->width * out->channels; i++)
            row[i] = (uint8_t)abs(a[i] - b[i]);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(absdiff)
