/*
 * Idea:     computes once and then hands out what it has: fast, as long as the shape stays.
 * Changed:  a static copy of the result.
 * Expect:   returned the result of an earlier call
 */
#include "tests/mutants/blur/mutant.h"

static struct image kept;
static struct blur_params kept_params;

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (kept.data && image_same_shape(&kept, out) && kept_params.ksize == params->ksize &&
        kept_params.sigma == params->sigma) {
        image_copy(out, &kept);
        return STATUS_OK;
    }
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    image_free(&kept);
    if (image_create_like(&kept, out) != STATUS_OK)
        return STATUS_NO_MEMORY;
    image_copy(&kept, out);
    kept_params = *params;
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
