/*
 * Idea:     keeps its last result and gives it again when the input lies where it lay.
 * Changed:  the address of the input stands for its content.
 * Expect:   returned the result of an earlier call | something of an earlier call is kept and not renewed
 */
#include <string.h>

#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    static struct image kept;
    static const void *key;
    static struct blur_params key_params;
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (!kept.data || !image_same_shape(&kept, out) || in->data != key ||
        memcmp(&key_params, params, sizeof key_params) != 0) {
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                for (int c = 0; c < in->channels; c++)
                    mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
        image_free(&kept);
        if (image_create_like(&kept, out) != STATUS_OK)
            return STATUS_NO_MEMORY;
        image_copy(&kept, out);
        key = in->data;
        key_params = *params;
        return STATUS_OK;
    }
    image_copy(out, &kept);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
