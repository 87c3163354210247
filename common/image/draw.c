#include "common/image/draw.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- colours, canvases */

const uint8_t *draw_palette(int index)
{
    static const uint8_t colours[][3] = {{255, 32, 32},  {64, 224, 64}, {64, 128, 255}, {255, 208, 0},
                                         {255, 64, 224}, {0, 224, 224}, {255, 128, 0},  {176, 112, 255}};

    return colours[(unsigned)index % (sizeof colours / sizeof *colours)];
}

/* The values of `picture` that become 0 and 255. NaN and infinities do not count. */
static void find_range(const struct image *picture, double *least, double *most)
{
    *least = *most = 0;
    if (picture->type == PIXEL_U8 || picture->type == PIXEL_U16) {
        *most = picture->type == PIXEL_U8 ? 255 : 65535;
        return;
    }
    *least = INFINITY;
    *most = -INFINITY;
    for (int y = 0; y < picture->height; y++) {
        for (int i = 0; i < picture->width * picture->channels; i++) {
            const double sample = image_sample(picture, i / picture->channels, y, i % picture->channels);

            *least = isfinite(sample) ? fmin(*least, sample) : *least;
            *most = isfinite(sample) ? fmax(*most, sample) : *most;
        }
    }
}

enum status draw_canvas(struct image *canvas, const struct image *picture)
{
    enum status status = STATUS_OK;
    double least, most;

    memset(canvas, 0, sizeof *canvas);
    if (picture->channels != 1 && picture->channels != 3)
        return status_set(STATUS_BAD_INPUT, "%d channels are no picture to draw on", picture->channels);
    TRY(image_create(canvas, picture->width, picture->height, 3, PIXEL_U8));
    find_range(picture, &least, &most);
    for (int y = 0; y < picture->height; y++) {
        uint8_t *row = image_row(canvas, y);

        for (int i = 0; i < 3 * picture->width; i++) {
            const double sample = image_sample(picture, i / 3, y, picture->channels == 3 ? i % 3 : 0);
            const double share = most > least ? (sample - least) / (most - least) : 0;

            if (picture->type == PIXEL_U8 || picture->type == PIXEL_U16)
                row[i] = (uint8_t)((int)sample >> (picture->type == PIXEL_U16 ? 8 : 0));
            else
                row[i] = (uint8_t)(255 * (share > 0 ? fmin(share, 1) : 0) + 0.5); /* NaN becomes 0 */
        }
    }
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------------- lines */

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

static void point(struct image *image, int64_t x, int64_t y, const uint8_t *colour)
{
    fill(image, x, y, x + 1, y + 1, colour);
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

/* Narrows the part of a line, *from to *to of 0 to 1, to where start + t * step is within -0.5 and size - 0.5. */
static bool clip(double start, double step, int size, double *from, double *to)
{
    const double low = -0.5 - start, high = size - 0.5 - start;

    if (step == 0)
        return low <= 0 && high >= 0;
    *from = fmax(*from, fmin(low / step, high / step));
    *to = fmin(*to, fmax(low / step, high / step));
    return *from <= *to;
}

void draw_line(struct image *image, double x0, double y0, double x1, double y1, const uint8_t *colour)
{
    const double dx = x1 - x0, dy = y1 - y0;
    const double length =
        fmax(fabs(dx), fabs(dy)); /* a point for each column of a flat line, for each row of a steep one */
    double from = 0, to = 1;

    if (!isfinite(x0) || !isfinite(y0) || !isfinite(length) || !clip(x0, dx, image->width, &from, &to) ||
        !clip(y0, dy, image->height, &from, &to))
        return;
    /* Only the part that is seen is walked, at most the image's side in steps, wherever the ends are. */
    for (double i = floor(from * length); i <= ceil(to * length); i++) {
        const double t = length > 0 ? fmin(i / length, 1) : 0, x = floor(x0 + t * dx + 0.5),
                     y = floor(y0 + t * dy + 0.5);

        if (x >= 0 && y >= 0 && x < image->width && y < image->height)
            point(image, (int64_t)x, (int64_t)y, colour);
    }
}

void draw_cross(struct image *image, int x, int y, int arm, const uint8_t *colour)
{
    const int64_t cx = x, cy = y, reach = at_least(arm, 0);

    fill(image, cx - reach, cy, cx + reach + 1, cy + 1, colour);
    fill(image, cx, cy - reach, cx + 1, cy + reach + 1, colour);
}

/* The midpoint algorithm: one eighth of the circle, mirrored. */
void draw_circle(struct image *image, int x, int y, int radius, const uint8_t *colour)
{
    const int64_t r = at_least(at_most(radius, 4 * (int64_t)IMAGE_MAX_SIDE), 0);
    int64_t across = r, along = 0, error = 1 - r;

    while (along <= across) {
        for (int i = 0; i < 8; i++) {
            const int64_t a = i & 1 ? across : along, b = i & 1 ? along : across;

            point(image, x + (i & 2 ? a : -a), y + (i & 4 ? b : -b), colour);
        }
        along++;
        if (error > 0)
            error -= 2 * --across;
        error += 2 * along + 1;
    }
}

/* -------------------------------------------------------------------------------------------------------- text */

/* 5 x 7 pixels: a byte a row, from the top, bit 4 on the left. */
static const uint8_t font[128][DRAW_TEXT_HEIGHT] = {
    ['0'] = {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}, ['1'] = {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    ['2'] = {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f}, ['3'] = {0x1e, 0x01, 0x01, 0x0e, 0x01, 0x01, 0x1e},
    ['4'] = {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}, ['5'] = {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    ['6'] = {0x0e, 0x10, 0x10, 0x1e, 0x11, 0x11, 0x0e}, ['7'] = {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    ['8'] = {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}, ['9'] = {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x01, 0x0e},
    ['A'] = {0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}, ['B'] = {0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e},
    ['C'] = {0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e}, ['D'] = {0x1e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1e},
    ['E'] = {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f}, ['F'] = {0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10},
    ['G'] = {0x0e, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0e}, ['H'] = {0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11},
    ['I'] = {0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}, ['J'] = {0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c},
    ['K'] = {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11}, ['L'] = {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f},
    ['M'] = {0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11}, ['N'] = {0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11},
    ['O'] = {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}, ['P'] = {0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10},
    ['Q'] = {0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d}, ['R'] = {0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11},
    ['S'] = {0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e}, ['T'] = {0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04},
    ['U'] = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e}, ['V'] = {0x11, 0x11, 0x11, 0x11, 0x0a, 0x0a, 0x04},
    ['W'] = {0x11, 0x11, 0x11, 0x15, 0x15, 0x1b, 0x11}, ['X'] = {0x11, 0x0a, 0x04, 0x04, 0x04, 0x0a, 0x11},
    ['Y'] = {0x11, 0x0a, 0x04, 0x04, 0x04, 0x04, 0x04}, ['Z'] = {0x1f, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1f},
    ['-'] = {0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x00}, ['.'] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c},
    [':'] = {0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x0c, 0x00}, ['%'] = {0x19, 0x19, 0x02, 0x04, 0x08, 0x13, 0x13},
    ['='] = {0x00, 0x00, 0x1f, 0x00, 0x1f, 0x00, 0x00}, ['('] = {0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02},
    [')'] = {0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08}, ['/'] = {0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10},
};

void draw_text(struct image *image, int x, int y, const char *text, const uint8_t *colour)
{
    enum { CELL = 6, WIDTH = 5 };

    for (int64_t left = x; *text && left < image->width; text++, left += CELL) {
        const uint8_t *rows = font[toupper((unsigned char)*text) & 127];

        for (int i = 0; i < DRAW_TEXT_HEIGHT * WIDTH; i++)
            if (rows[i / WIDTH] >> (WIDTH - 1 - i % WIDTH) & 1)
                point(image, left + i % WIDTH, (int64_t)y + i / WIDTH, colour);
    }
}
