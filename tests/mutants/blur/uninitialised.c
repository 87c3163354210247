/*
 * Idea:     reads a buffer that malloc gave it before anything was written to it.
 * Changed:  the buffer is not filled where x + y is a multiple of 5.
 * Expect:   fresh heap memory | differs between runs
 */
#include <stdlib.h>

#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    uint8_t *row = malloc(65536 * 3);

    if (!row)
        return STATUS_NO_MEMORY;
    for (int y = 0; y < in->height; y++) {
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                if ((x + y) % 5 != 0 || y > 0)
                    row[x * in->channels + c] = mutant_sample(in, weights, params->ksize, x, y, c);
        for (int i = 0; i < in->width * in->channels; i++)
            ((uint8_t *)image_row(out, y))[i] = row[i];
    }
    free(row);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
