/*
 * Idea:     the levels are right, the gaps between them are what the output held before.
 * Changed:  nothing is filled.
 * Expect:   never written
 */
#include <string.h>

#include "common/algo/pyramid.h"

static enum status run(const struct image *in, struct image *out, const struct pyramid_params *params)
{
    struct pyramid_layout layout;

    pyramid_lay_out(in->width, in->height, params, &layout);
    for (int y = 0; y < in->height; y++)
        memcpy(image_row(out, y), image_row(in, y), (size_t)in->width);
    for (int l = 1; l < layout.count; l++) {
        const struct pyramid_level *level = &layout.levels[l], *source = &layout.levels[level->source];

        for (int y = 0; y < level->height; y++) {
            const struct pyramid_tap row = pyramid_find_tap(y, level->relative, source->height);
            const uint8_t *upper = (const uint8_t *)image_row(out, source->y + row.first) + source->x;
            const uint8_t *lower = (const uint8_t *)image_row(out, source->y + row.second) + source->x;

            for (int x = 0; x < level->width; x++)
                ((uint8_t *)image_row(out, level->y + y))[level->x + x] =
                    pyramid_blend(upper, lower, pyramid_find_tap(x, level->relative, source->width), row.weight);
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(pyramid)
