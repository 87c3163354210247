/*
 * Idea:     The definition: the levels (smaller copies of the picture) one after the other, pixel
 *           by pixel, each the weighted mean of four source pixels (bilinear filter). All other
 *           versions are compared with this one.
 * Expect:   40 ms at 1280x720, where the levels above the first have 2.1 million pixels.
 * Result:   11.4 ms (results/h100/pyramid/pyramid_1280x720.json); the reason is not known.
 * Run:      make bench-pyramid SIZE=1280x720 VERSIONS=cpu/serial
 */
#include <string.h>

#include "common/algo/pyramid.h"

/* Rows top to bottom - 1 of a level from the pyramid's own rows of its source. */
static void resample(const struct pyramid_layout *layout, int l, int top, int bottom, struct image *out)
{
    const struct pyramid_level *level = &layout->levels[l], *source = &layout->levels[level->source];

    for (int y = top; y < bottom; y++) {
        const struct pyramid_tap row = pyramid_find_tap(y, level->relative, source->height);
        const uint8_t *upper = (const uint8_t *)image_row(out, source->y + row.first) + source->x;
        const uint8_t *lower = (const uint8_t *)image_row(out, source->y + row.second) + source->x;
        uint8_t *to = (uint8_t *)image_row(out, level->y + y) + level->x;

        for (int x = 0; x < level->width; x++)
            to[x] = pyramid_blend(upper, lower, pyramid_find_tap(x, level->relative, source->width), row.weight);
    }
}

static enum status run(const struct image *in, struct image *out, const struct pyramid_params *params)
{
    struct pyramid_layout layout;

    pyramid_lay_out(in->width, in->height, params, &layout);
    image_fill(out, (uint8_t)params->fill);
    for (int y = 0; y < in->height; y++)
        memcpy(image_row(out, y), image_row(in, y), (size_t)in->width);
    for (int l = 1; l < layout.count; l++)
        resample(&layout, l, 0, layout.levels[l].height, out);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(pyramid)
