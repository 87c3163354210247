/*
 * Idea:     goes on at the other side of the image, as if it were a torus. (To repeat or to mirror the edge would be no
 *           fault: see the contract.)
 * Changed:  the reader takes coordinates modulo width and height.
 * Expect:   border handling
 */
#include "tests/mutants/morphology/mutant.h"

static int read(const struct image *in, int x, int y, int nothing)
{
    (void)nothing;
    x = (x + 32 * in->width) % in->width;
    y = (y + 32 * in->height) % in->height;
    return ((const uint8_t *)image_row(in, y))[x];
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    return mutant_run(in, out, params, read);
}

RUNGS_CPU_VERSION(morphology)
