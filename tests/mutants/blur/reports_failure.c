/*
 * Idea:     gives up on images of more than one channel.
 * Changed:  a failure status.
 * Expect:   the version itself reports the failure
 */
#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (in->channels > 1)
        return status_set(STATUS_FAILED, "cannot do colour");
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
