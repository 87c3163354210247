#include "common/video/draw.h"

#include <string.h>

#include "common/algo/boxes.h"

static int64_t at_least(int64_t value, int64_t least)
{
    return value < least ? least : value;
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value > most ? most : value;
}

/* Fills the pixels with x0 <= x < x1 and y0 <= y < y1 that are in the image. */
static void fill(struct image *image, int64_t x0, int64_t y0, int64_t x1, int64_t y1, const uint8_t *colour)
{
    const size_t pixel_bytes = (size_t)image->channels;

    x0 = at_least(x0, 0);
    x1 = at_most(x1, image->width);
    y1 = at_most(y1, image->height);
    for (int64_t y = at_least(y0, 0); y < y1; y++) {
        uint8_t *row = image_row(image, (int)y);

        for (int64_t x = x0; x < x1; x++)
            memcpy(row + (size_t)x * pixel_bytes, colour, pixel_bytes);
    }
}

void draw_rectangle(struct image *image, int x, int y, int width, int height, const uint8_t *colour)
{
    const int64_t x0 = x, y0 = y, x1 = x0 + width, y1 = y0 + height, line = DRAW_LINE_WIDTH;

    if (width < 1 || height < 1)
        return;
    fill(image, x0, y0, x1, at_most(y0 + line, y1), colour);
    fill(image, x0, at_least(y1 - line, y0), x1, y1, colour);
    fill(image, x0, y0, at_most(x0 + line, x1), y1, colour);
    fill(image, at_least(x1 - line, x0), y0, x1, y1, colour);
}

void draw_boxes(struct image *image, const struct image *table, const uint8_t *colour)
{
    const int count = boxes_count(table);

    for (int k = 1; k <= count; k++) {
        const int32_t *row = image_row(table, k);

        draw_rectangle(image, row[1], row[2], row[3], row[4], colour);
    }
}
