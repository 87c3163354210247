/*
 * Idea:     looks one pixel to the right, as an element without a centre does.
 * Changed:  x + 1 in the reader.
 * Expect:   shifted by (-1,0)
 */
#include "tests/mutants/morphology/mutant.h"

static int read(const struct image *in, int x, int y, int nothing)
{
    x++;
    if (x < 0 || x >= in->width || y < 0 || y >= in->height)
        return nothing;
    return ((const uint8_t *)image_row(in, y))[x];
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    return mutant_run(in, out, params, read);
}

RUNGS_CPU_VERSION(morphology)
