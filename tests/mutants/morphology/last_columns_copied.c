/*
 * Idea:     vectors of 16 pixels.
 * Changed:  what is left of a row after the last whole vector is copied, not processed.
 * Expect:   only the last
 */
#include "tests/mutants/morphology/mutant.h"

static int read(const struct image *in, int x, int y, int nothing)
{
    if (x < 0 || x >= in->width || y < 0 || y >= in->height)
        return nothing;
    return ((const uint8_t *)image_row(in, y))[x];
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    const enum status status = mutant_run(in, out, params, read);

    for (int y = 0; status == STATUS_OK && y < in->height; y++)
        for (int x = in->width / 16 * 16; x < in->width; x++)
            ((uint8_t *)image_row(out, y))[x] = ((const uint8_t *)image_row(in, y))[x];
    return status;
}

RUNGS_CPU_VERSION(morphology)
