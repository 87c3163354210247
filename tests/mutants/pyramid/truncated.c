/*
 * Idea:     the definition without the rounding term.
 * Changed:  blended pixels are cut off instead of rounded to the nearest.
 * Expect:   rounding (truncated
 */
#include <string.h>

#include "common/algo/pyramid.h"

static enum status run(const struct image *in, struct image *out, const struct pyramid_params *params)
{
    struct pyramid_layout layout;

    pyramid_lay_out(in->width, in->height, params, &layout);
    image_fill(out, (uint8_t)params->fill);
    for (int y = 0; y < in->height; y++)
        memcpy(image_row(out, y), image_row(in, y), (size_t)in->width);
    for (int l = 1; l < layout.count; l++) {
        const struct pyramid_level *level = &layout.levels[l], *source = &layout.levels[level->source];

        for (int y = 0; y < level->height; y++) {
            const struct pyramid_tap row = pyramid_find_tap(y, level->relative, source->height);
            const uint8_t *upper = (const uint8_t *)image_row(out, source->y + row.first) + source->x;
            const uint8_t *lower = (const uint8_t *)image_row(out, source->y + row.second) + source->x;

            for (int x = 0; x < level->width; x++) {
                const struct pyramid_tap tap = pyramid_find_tap(x, level->relative, source->width);
                const uint32_t above = (256 - tap.weight) * upper[tap.first] + tap.weight * upper[tap.second];
                const uint32_t below = (256 - tap.weight) * lower[tap.first] + tap.weight * lower[tap.second];
                ((uint8_t *)image_row(out, level->y + y))[level->x + x] =
                    (uint8_t)(((256 - row.weight) * above + row.weight * below) >> 16);
            }
        }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(pyramid)
