/*
 * Idea:     calls exit() on images of more than one channel.
 * Changed:  a version that decides for the whole program.
 * Expect:   the version ended the process
 */
#include <stdlib.h>

#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    if (in->channels > 1)
        exit(3);
    blur_weights(params, weights);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            mutant_put(out, x, y, 0, mutant_sample(in, weights, params->ksize, x, y, 0));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
