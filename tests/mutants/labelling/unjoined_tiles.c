/*
 * Idea:     tiles of 32x16 pixels, each labelled by itself.
 * Changed:  the second step, which joins what meets at the borders of tiles, is missing.
 * Expect:   what meets at the borders of tiles is not joined
 */
#include "tests/mutants/labelling/mutant.h"

enum { TILE_WIDTH = 32, TILE_HEIGHT = 16 };

static void label_tile(const struct image *in, struct image *out, int connectivity, int left, int top, int *stack)
{
    struct image from = *in, to = *out;

    from.width = to.width = in->width - left < TILE_WIDTH ? in->width - left : TILE_WIDTH;
    from.height = to.height = in->height - top < TILE_HEIGHT ? in->height - top : TILE_HEIGHT;
    from.data = (uint8_t *)image_row(in, top) + left;
    to.data = (int32_t *)image_row(out, top) + left;
    for (int y = 0; y < from.height; y++)
        for (int x = 0; x < from.width; x++)
            if (((const uint8_t *)image_row(&from, y))[x] && ((const int32_t *)image_row(&to, y))[x] == 0)
                mutant_flood(&from, &to, connectivity, x, y, (top + y) * in->width + left + x + 1, stack);
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int stack[TILE_WIDTH * TILE_HEIGHT];

    image_fill(out, 0);
    for (int top = 0; top < in->height; top += TILE_HEIGHT)
        for (int left = 0; left < in->width; left += TILE_WIDTH)
            label_tile(in, out, params->connectivity, left, top, stack);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
