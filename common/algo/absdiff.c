#include "common/algo/absdiff.h"

#include <stdio.h>

#include "common/contract/inputs.h"

static const struct parameter parameters[] = {{0}};

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    for (int i = 0; i < 2; i++) {
        if (in[i].type != PIXEL_U8)
            return status_set(STATUS_BAD_INPUT, "absdiff takes u8 samples, not %s", pixel_name(in[i].type));
        if (in[i].channels != 1 && in[i].channels != 3)
            return status_set(STATUS_BAD_INPUT, "absdiff takes 1 or 3 channels, not %d", in[i].channels);
    }
    if (!image_same_shape(&in[0], &in[1]))
        return status_set(STATUS_BAD_INPUT,
                          "absdiff takes two images of the same shape, not %dx%d with %d channel%s and %dx%d with %d",
                          in[0].width, in[0].height, in[0].channels, in[0].channels == 1 ? "" : "s", in[1].width,
                          in[1].height, in[1].channels);
    out->width = in->width;
    out->height = in->height;
    out->channels = in->channels;
    out->type = PIXEL_U8;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads each sample of both images once, writes each of the result once. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const double samples = (double)image_pixel_bytes(in);

    (void)out, (void)params;
    cost->bytes = 3 * samples;
    cost->operations[OPERATION_OTHER] = samples;
}

/* The second image becomes its own mirrored negative: patterns and photographs are the same in both, and would give
 * nothing but zeros. A constant gives 255 this way, once from above (255 - 0) and once from below (0 - 255). */
static void prepare(struct image in[])
{
    for (int y = 0; y < in[1].height; y++) {
        uint8_t *row = image_row(&in[1], y);
        for (int i = 0, j = in[1].width * in[1].channels - 1; i <= j; i++, j--) {
            const uint8_t left = row[i];
            row[i] = (uint8_t)(255 - row[j]);
            row[j] = (uint8_t)(255 - left);
        }
    }
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8, PIXEL_U8};
    enum status status = inputs_make_pictures(request, types, 2, in);

    if (status == STATUS_OK)
        prepare(in);
    return status;
}

/* -------------------------------------------------------------------------- answers worked out by hand */

static const struct golden goldens[] = {
    {
        /* 255 - 0, 0 - 255, 7 - 7, 128 - 127, 127 - 128, 1 - 255 = -254. Signed bytes would take 128 for -128, and
         * bytes alone 0 - 255 for 1. */
        .name = "from above and from below",
        .settings = "",
        .width = 6,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){255, 0, 7, 128, 127, 1}, (const uint8_t[]){0, 255, 7, 127, 128, 255}},
        .out = {(const uint8_t[]){255, 255, 0, 1, 1, 254}},
    },
    {
        /* 200 - 72 = 128 and 72 - 200 = -128: the one result that a signed byte cannot hold. */
        .name = "128, both ways",
        .settings = "",
        .width = 1,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){200, 72}, (const uint8_t[]){72, 200}},
        .out = {(const uint8_t[]){128, 128}},
    },
    {
        /* Pixel 0: 10 - 13, 20 - 20, 30 - 0; pixel 1: 255 - 254, 0 - 9, 100 - 50. */
        .name = "channels apart",
        .settings = "",
        .width = 2,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){10, 20, 30, 255, 0, 100}, (const uint8_t[]){13, 20, 0, 254, 9, 50}},
        .out = {(const uint8_t[]){3, 0, 30, 1, 9, 50}},
    },
    {
        /* Row by row: 1 - 0, 2 - 0, 3 - 3 | 4 - 8, 5 - 5, 6 - 1. */
        .name = "two rows",
        .settings = "",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){1, 2, 3, 4, 5, 6}, (const uint8_t[]){0, 0, 3, 8, 5, 1}},
        .out = {(const uint8_t[]){1, 2, 0, 4, 0, 5}},
    },
    {
        /* 77 - 80. */
        .name = "1x1",
        .settings = "",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){77}, (const uint8_t[]){80}},
        .out = {(const uint8_t[]){3}},
    },
    {0},
};

static struct algorithm absdiff = {
    .name = "absdiff",
    .summary = "absolute difference of two images, u8, 1 or 3 channels",
    .inputs = {{.name = "a", .kind = SLOT_PICTURE, .type = PIXEL_U8},
               {.name = "b", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "difference", .kind = SLOT_PICTURE}},
    .params_size = 0,
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .check_settings = (const char *const[]){NULL},
    .check_channels = (const int[]){1, 3, 0},
    .goldens = goldens,
    .bench_channels = 1,
    .make_inputs = make_inputs,
};

RUNGS_ALGORITHM(absdiff)
