/*
 * Idea:     truncates where the contract rounds.
 * Changed:  no half is added before the shift.
 * Expect:   rounding (truncated
 */
#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2]) >>
                                GRAYSCALE_BITS);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
