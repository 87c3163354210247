/*
 * Idea:     takes pixels outside the image as 0: right for a dilation, black edges for an erosion.
 * Changed:  the reader gives 0 outside.
 * Expect:   border handling
 */
#include "tests/mutants/morphology/mutant.h"

static int read(const struct image *in, int x, int y, int nothing)
{
    (void)nothing;
    if (x < 0 || x >= in->width || y < 0 || y >= in->height)
        return 0;
    return ((const uint8_t *)image_row(in, y))[x];
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    return mutant_run(in, out, params, read);
}

RUNGS_CPU_VERSION(morphology)
