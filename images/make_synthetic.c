/*
 * make_synthetic.c: writes the synthetic inputs in images/; images/README.md says what each is good for.
 * usage: make_synthetic FOLDER            writes them
 *        make_synthetic --check FOLDER    compares the pixels of those that are there; exit status 1 if they differ
 *
 * The same pixels on every machine: integers, but for the zone plate, where no cosine comes near to a half after
 * scaling to 8 bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/image_io.h"
#include "common/image/pattern.h"

static void set_gray(struct image *image, int x, int y, int value)
{
    if (x >= 0 && y >= 0 && x < image->width && y < image->height)
        ((uint8_t *)image_row(image, y))[x] = (uint8_t)value;
}

static void fill_rectangle(struct image *image, int left, int top, int width, int height, int value)
{
    for (int y = top; y < top + height; y++) {
        for (int x = left; x < left + width; x++)
            set_gray(image, x, y, value);
    }
}

/* All pixels whose centre is at least `inner` and at most `outer` from (x, y). */
static void fill_ring(struct image *image, int x, int y, int inner, int outer, int value)
{
    for (int v = -outer; v <= outer; v++) {
        for (int u = -outer; u <= outer; u++) {
            if (u * u + v * v >= inner * inner && u * u + v * v <= outer * outer)
                set_gray(image, x + u, y + v, value);
        }
    }
}

/* Roughly normal noise of the given standard deviation: twelve uniform numbers have the variance of one. */
static int noise(uint64_t *state, int deviation)
{
    int64_t sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (int64_t)(pattern_random(state) >> 48) - 32768;
    return (int)(sum * deviation / 65536);
}

static int clamp_8(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

static void draw_impulse(struct image *image)
{
    image_fill(image, 0);
    set_gray(image, image->width / 2, image->height / 2, 255);
}

/* Every gray level four columns wide, and the same downwards in the lower half, falling. */
static void draw_gradient(struct image *image)
{
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++)
            set_gray(image, x, y, y < image->height / 2 ? x / 4 : 255 - 2 * (y - image->height / 2) % 256);
    }
}

/* Four quarters with fields of 1, 2, 8 and 32 pixels. */
static void draw_checkerboard(struct image *image)
{
    static const int fields[2][2] = {{1, 2}, {8, 32}};

    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            const int field = fields[y >= image->height / 2][x >= image->width / 2];
            set_gray(image, x, y, (x / field + y / field) % 2 ? 255 : 0);
        }
    }
}

/* Rings whose frequency grows with the radius, up to half a period a pixel at the middle of each side. */
static void draw_zone_plate(struct image *image)
{
    const double pi = 3.14159265358979323846;
    const double middle = (image->width - 1) / 2.0;

    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            const double u = x - middle, v = y - middle;
            set_gray(image, x, y, (int)lrint(127.5 + 127.5 * cos(pi * (u * u + v * v) / image->width)));
        }
    }
}

/* 23 objects on black, some touching the border or nested, none touching another, also not diagonally. */
static void draw_shapes(struct image *image)
{
    image_fill(image, 0);
    for (int i = 0; i < 6; i++) /* discs of radius 1 to 16 */
        fill_ring(image, 24 + 50 * i, 28, 0, 1 + 3 * i, 255);
    for (int i = 0; i < 5; i++) /* squares of side 1 to 33 */
        fill_rectangle(image, 12 + 60 * i, 64, 1 + 8 * i, 1 + 8 * i, 255);
    for (int i = 0; i < 3; i++) { /* rings, each with a disc inside */
        fill_ring(image, 40 + 90 * i, 140, 20, 28, 255);
        fill_ring(image, 40 + 90 * i, 140, 0, 4 + 4 * i, 255);
    }
    for (int y = 186; y < 226; y++) { /* a comb: one object that row by row looks like eight */
        for (int x = 20; x < 140; x++)
            set_gray(image, x, y, y >= 218 || x % 16 < 8 ? 255 : 0);
    }
    for (int i = 0; i < 40; i++) { /* a thin diagonal: 8-connected, but 40 pieces if 4-connected */
        set_gray(image, 160 + i, 186 + i, 255);
    }
    fill_rectangle(image, 230, 190, 40, 12, 255); /* an L */
    fill_rectangle(image, 230, 190, 12, 36, 255);
    fill_rectangle(image, 310, 120, 10, 40, 255); /* at the right border */
    fill_rectangle(image, 290, 230, 30, 10, 255); /* in the corner */
    set_gray(image, 0, 239, 255);                 /* a single pixel in another */
}

/* The same shapes, dim, in uneven light and with noise of standard deviation 12. */
static void draw_noisy_shapes(struct image *image)
{
    uint64_t state = 1;

    draw_shapes(image);
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = image_row(image, y);

        for (int x = 0; x < image->width; x++)
            row[x] = (uint8_t)clamp_8(40 + x / 8 + y / 8 + (row[x] ? 90 : 0) + noise(&state, 12));
    }
}

/* Step edges of six contrasts, a star of 32 sectors, squares turned by seven angles, lines of one to four pixels. */
static void draw_edges(struct image *image)
{
    static const int slopes[7][2] = {{1, 0}, {8, 1}, {4, 1}, {2, 1}, {4, 3}, {1, 1}, {3, 4}};

    image_fill(image, 128);
    for (int i = 0; i < 6; i++) { /* contrasts 4, 8, 16, 32, 64, 126 */
        const int half = i < 5 ? 2 << i : 63;
        fill_rectangle(image, 8 + 40 * i, 8, 18, 48, 128 - half);
        fill_rectangle(image, 26 + 40 * i, 8, 18, 48, 128 + half);
    }
    for (int v = -50; v <= 50; v++) {
        for (int u = -50; u <= 50; u++) {
            /* Sectors are told apart without trigonometry: eight octants, each cut in four by its slope. */
            const int a = abs(u) > abs(v) ? abs(u) : abs(v), b = abs(u) > abs(v) ? abs(v) : abs(u);
            const int octant = (u < 0) + (v < 0) + (abs(u) > abs(v));
            const int part = a == 0 ? 0 : 4 * b / (a + 1);
            if (u * u + v * v <= 50 * 50)
                set_gray(image, 64 + u, 120 + v, (octant + part) % 2 ? 255 : 0);
        }
    }
    for (int i = 0; i < 7; i++) {
        const int p = slopes[i][0], q = slopes[i][1], x = 140 + 34 * (i % 3), y = 84 + 34 * (i / 3);
        for (int v = -20; v <= 20; v++) {
            for (int u = -20; u <= 20; u++) {
                const int along = p * u + q * v, across = p * v - q * u;
                if (along * along <= 100 * (p * p + q * q) && across * across <= 100 * (p * p + q * q))
                    set_gray(image, x + u, y + v, 240);
            }
        }
    }
    for (int i = 1; i <= 4; i++) {
        fill_rectangle(image, 12, 178 + 14 * i, 100, i, 0);
        fill_rectangle(image, 116 + 16 * i, 192, i, 56, 255);
    }
    for (int i = 0; i < 56; i++) {
        set_gray(image, 196 + i, 192 + i, 0);
        set_gray(image, 196 + i, 247 - i, 255);
    }
}

/* A bright half beside a dark one with a thin line, and one pixel in ten black or white at random. */
static void draw_salt_and_pepper(struct image *image)
{
    uint64_t state = 2;

    fill_rectangle(image, 0, 0, image->width / 2, image->height, 70);
    fill_rectangle(image, image->width / 2, 0, image->width / 2, image->height, 180);
    fill_rectangle(image, 16, 64, image->width - 32, 3, 120);
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            const uint64_t number = pattern_random(&state) % 20;
            if (number < 2)
                set_gray(image, x, y, number == 0 ? 0 : 255);
        }
    }
}

/* From the top: eight full colours, gray levels, the colour circle, and red, green and blue from 0 to 255. */
static void draw_colours(struct image *image)
{
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = image_row(image, y);

        for (int x = 0; x < image->width; x++) {
            uint8_t *pixel = row + 3 * x;
            const int band = y * 6 / image->height;
            const int hue = x * 1536 / image->width, part = hue % 256;

            for (int c = 0; c < 3; c++) {
                /* Over the circle's six parts each channel is full, falls, is 0, is 0, rises, is full. */
                const int sixth = (hue / 256 + 6 - 2 * c) % 6;
                const int wheel = sixth == 0 || sixth == 5 ? 255 : sixth == 1 ? 255 - part : sixth == 4 ? part : 0;

                if (band == 0)
                    pixel[c] = (x * 8 / image->width) >> c & 1 ? 255 : 0;
                else if (band == 1)
                    pixel[c] = (uint8_t)(x * 17 / image->width * 255 / 16);
                else if (band == 2)
                    pixel[c] = (uint8_t)wheel;
                else
                    pixel[c] = c == band - 3 ? (uint8_t)(x * 256 / image->width) : 0;
            }
        }
    }
}

static const struct {
    const char *name;
    int width, height, channels;
    void (*draw)(struct image *image);
} pictures[] = {{"impulse.png", 65, 65, 1, draw_impulse},
                {"gradient.png", 1024, 256, 1, draw_gradient},
                {"checkerboard.png", 256, 256, 1, draw_checkerboard},
                {"zone_plate.png", 320, 320, 1, draw_zone_plate},
                {"shapes.png", 320, 240, 1, draw_shapes},
                {"shapes_noisy.png", 320, 240, 1, draw_noisy_shapes},
                {"edges.png", 256, 256, 1, draw_edges},
                {"salt_and_pepper.png", 256, 192, 1, draw_salt_and_pepper},
                {"colours.png", 384, 240, 3, draw_colours}};

/* Loads a picture and tells whether it has the pixels of `expected`. */
static enum status compare(const struct image *expected, const char *path)
{
    enum status status = STATUS_OK;
    struct image found;

    TRY(image_load(&found, path, 0));
    if (!image_same_shape(expected, &found)) {
        status = status_set(STATUS_FAILED, "%s: not of the shape that is drawn", path);
        goto out;
    }
    for (int y = 0; y < found.height && status == STATUS_OK; y++) {
        if (memcmp(image_row(expected, y), image_row(&found, y), image_row_bytes(&found)) != 0)
            status = status_set(STATUS_FAILED, "%s: row %d is not what is drawn", path, y);
    }
out:
    image_free(&found);
    return status;
}

int main(int argc, char **argv)
{
    const bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    enum status status = STATUS_OK;
    struct image image = {0};

    if (argc != 2 && !check) {
        fprintf(stderr, "usage: make_synthetic [--check] FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", argv[argc - 1], pictures[i].name);
        TRY(image_create(&image, pictures[i].width, pictures[i].height, pictures[i].channels, PIXEL_U8));
        pictures[i].draw(&image);
        TRY(check ? compare(&image, path) : image_save(&image, path));
        image_free(&image);
    }
out:
    image_free(&image);
    if (status == STATUS_OK)
        return 0;
    fprintf(stderr, "make_synthetic: %s\n", status_message());
    return status == STATUS_FAILED ? 1 : 2;
}
