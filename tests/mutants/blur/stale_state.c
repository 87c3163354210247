/*
 * Idea:     keeps half of an earlier result.
 * Changed:  rows from the middle on are computed for the first call of a shape only.
 * Expect:   earlier call
 */
#include "tests/mutants/blur/mutant.h"

static struct image kept;
static struct blur_params kept_params;

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    const bool again = kept.data && image_same_shape(&kept, out) && kept_params.ksize == params->ksize &&
                       kept_params.sigma == params->sigma;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c,
                           again && y >= in->height / 2 ? ((const uint8_t *)image_row(&kept, y))[x * in->channels + c]
                                                        : mutant_sample(in, weights, params->ksize, x, y, c));
    if (again)
        return STATUS_OK;
    image_free(&kept);
    if (image_create_like(&kept, out) != STATUS_OK)
        return STATUS_NO_MEMORY;
    image_copy(&kept, out);
    kept_params = *params;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
