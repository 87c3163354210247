/*
 * Idea:     keeps its last result and gives it again when shape and the first pixel are what they were.
 * Changed:  a key made of one pixel stands for the whole input.
 * Expect:   returned the result of an earlier call | something of an earlier call is kept and not renewed
 */
#include <string.h>

#include "tests/mutants/blur/mutant.h"

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    static struct image kept;
    static uint8_t key;
    static struct blur_params key_params;
    const uint8_t corner = *(const uint8_t *)image_row(in, 0);
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (!kept.data || !image_same_shape(&kept, out) || corner != key ||
        memcmp(&key_params, params, sizeof key_params) != 0) {
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                for (int c = 0; c < in->channels; c++)
                    mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
        image_free(&kept);
        if (image_create_like(&kept, out) != STATUS_OK)
            return STATUS_NO_MEMORY;
        image_copy(&kept, out);
        key = corner;
        key_params = *params;
        return STATUS_OK;
    }
    image_copy(out, &kept);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur)
