#include "common/algo/grayscale.h"

#include <stdio.h>

static const struct parameter parameters[] = {{0}};

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "grayscale takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels == 1)
        return status_set(STATUS_BAD_INPUT, "grayscale takes 3 channels (RGB); this image is gray already");
    if (in->channels != 3)
        return status_set(STATUS_BAD_INPUT, "grayscale takes 3 channels (RGB), not %d", in->channels);
    out->width = in->width;
    out->height = in->height;
    out->channels = 1;
    out->type = PIXEL_U8;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads the 3 samples of a pixel once, writes its gray once; three products a pixel. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const double pixels = (double)in->width * in->height;

    (void)out, (void)params;
    cost->bytes = 4 * pixels;
    cost->operations[OPERATION_MULTIPLY_ADD_16] = 3 * pixels;
}

/* -------------------------------------------------------------------------- answers worked out by hand
 * gray = (9798 R + 19235 G + 3735 B + 16384) / 32768, rounded down. */

static const struct golden goldens[] = {
    {
        /* R: (2498490 + 16384) / 32768 = 76.75; G: (4904925 + 16384) / 32768 = 150.19; B: (952425 + 16384) / 32768 =
         * 29.57; white: 255 * 32768 / 32768 = 255 and the half is lost; black: 16384 / 32768 = 0.5. */
        .name = "pure colours",
        .settings = "",
        .width = 5,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0}},
        .out = {(const uint8_t[]){76, 150, 29, 255, 0}},
    },
    {
        /* The weights' sum is 32768, so gray stays: 1, 127, 128, 254. */
        .name = "gray stays gray",
        .settings = "",
        .width = 2,
        .height = 2,
        .channels = 3,
        .in = {(const uint8_t[]){1, 1, 1, 127, 127, 127, 128, 128, 128, 254, 254, 254}},
        .out = {(const uint8_t[]){1, 127, 128, 254}},
    },
    {
        /* 19235 * 12 + 3735 * 4 = 245760 = 7.5 * 32768 exactly -> 8. */
        .name = "half rounds up",
        .settings = "",
        .width = 1,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){0, 12, 4}},
        .out = {(const uint8_t[]){8}},
    },
    {
        /* 3735 * 250 = 933750, and 950134 / 32768 = 28.996 -> 28. A blue weight of 3736, as 0.114 * 32768 rounds, would
         * give 950384 / 32768 = 29.003 -> 29, and so would 14-bit weights: (1868 * 250 + 8192) / 16384 = 29.003. */
        .name = "blue takes what is left",
        .settings = "",
        .width = 1,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){0, 0, 250}},
        .out = {(const uint8_t[]){28}},
    },
    {
        /* 979800 + 3847000 + 186750 + 16384 = 5029934, / 32768 = 153.50 -> 153;
         * 97980 + 384700 + 112050 + 16384 = 611114, / 32768 = 18.65 -> 18. */
        .name = "one column",
        .settings = "",
        .width = 1,
        .height = 2,
        .channels = 3,
        .in = {(const uint8_t[]){100, 200, 50, 10, 20, 30}},
        .out = {(const uint8_t[]){153, 18}},
    },
    {0},
};

static struct algorithm grayscale = {
    .name = "grayscale",
    .summary = "RGB to gray (BT.601 luma), u8",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "gray", .kind = SLOT_PICTURE}},
    .params_size = 0,
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .check_settings = (const char *const[]){NULL},
    .check_channels = (const int[]){3, 0},
    .goldens = goldens,
    .bench_channels = 3,
};

RUNGS_ALGORITHM(grayscale)
