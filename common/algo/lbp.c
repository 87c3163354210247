#include "common/algo/lbp.h"

#include <stdio.h>

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const sides[] = {"8", "16", "32", NULL};

static const struct parameter parameters[] = {
    {.name = "patch",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct lbp_params, patch_index),
     .words = sides,
     .preset = 1,
     .help = "side of a patch in pixels"},
    {0},
};

static void describe(const void *params, char *text, size_t size)
{
    snprintf(text, size, "patch=%d", lbp_patch(params));
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    const int patch = lbp_patch(params);

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "lbp takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "lbp takes 1 channel, not %d", in->channels);
    if (in->width < patch || in->height < patch)
        return status_set(STATUS_BAD_INPUT, "lbp takes a picture of at least one patch of %dx%d pixels, not %dx%d",
                          patch, patch, in->width, in->height);
    out->width = lbp_patches(in->width, patch);
    out->height = lbp_patches(in->height, patch);
    out->channels = LBP_BINS;
    out->type = PIXEL_U16;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads the picture and writes the histograms once; eight comparisons and one increment for each pixel of a patch. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const int patch = lbp_patch(params), rows = lbp_patches(in->height, patch), columns = lbp_patches(in->width, patch);
    const double patches = (double)rows * columns, pixels = patches * patch * patch;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in) + 2.0 * LBP_BINS * patches;
    cost->operations[OPERATION_COUNTER_INCREMENT] = pixels;
    cost->operations[OPERATION_COMPARISON_8] = 8 * pixels;
}

/* -------------------------------------------------------------------------------------------------- checks */

/* Patches cut by neither border, by one, by both; vectors and warps of patches with a remainder; sides above 2048 and
 * more than 65,536 pixels. Every third one takes patch=32. */
static const int check_shapes[][3] = {
    {16, 16, 1},  {32, 32, 1},  {17, 16, 1},   {16, 17, 1},   {33, 32, 1},   {31, 33, 1},   {16, 700, 1}, {64, 64, 1},
    {65, 63, 1},  {47, 16, 1},  {97, 89, 1},   {128, 33, 1},  {127, 16, 1},  {32, 257, 1},  {66, 16, 1},  {130, 50, 1},
    {321, 32, 1}, {257, 17, 1}, {2100, 16, 1}, {40, 2100, 1}, {300, 230, 1}, {2065, 33, 1}, {0},
};

static const char *const check_settings[] = {"patch=8", "patch=32", NULL};

/* ------------------------------------------------------------------------------ answers worked out by hand
 * Patches of 8x8. */

#define Z 0, 0, 0, 0, 0, 0, 0, 0
#define F 5, 5, 5, 5, 5, 5, 5, 5
#define ROW(...)                                                                                                       \
    (const uint8_t *)(const uint16_t[4 * LBP_BINS])                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

enum { SECOND = LBP_BINS, NEXT_ROW = 2 * LBP_BINS };

static const struct golden goldens[] = {
    {
        /* Every neighbour is at least as large, also those outside. */
        .name = "zeros",
        .settings = "patch=8",
        .width = 8,
        .height = 8,
        .channels = 1,
        .in = {(const uint8_t[]){Z, Z, Z, Z, Z, Z, Z, Z}},
        .out = {ROW([255] = 64)},
    },
    {
        /* Inside all bits are set; along an edge those that look outside are not. N, E, S, W edges lack the bits
         * NW N NE = 224, NE E SE = 56, SE S SW = 14, SW W NW = 131; the corners NW, NE, SE, SW keep E SE S = 28,
         * S SW W = 7, NW N W = 193, N NE E = 112. */
        .name = "one value",
        .settings = "patch=8",
        .width = 8,
        .height = 8,
        .channels = 1,
        .in = {(const uint8_t[]){F, F, F, F, F, F, F, F}},
        .out = {ROW([255] = 36, [255 - 224] = 6, [255 - 56] = 6, [255 - 14] = 6,
                    [255 - 131] = 6, [28] = 1, [7] = 1, [193] = 1, [112] = 1)},
    },
    {
        /* A 1 among zeros, at (2, 3), is larger than all its neighbours; every other pixel is 0. The second patch has
         * one column of pixels, (8, 3) being 9, the others padding. Below, row 8 is all 1: its neighbours above are in
         * another patch, and those below are padding. In it code E W = 17; at the left end 16, at the right end 1. In
         * the fourth patch the 1 stands at the left border, alone: code 0. */
        .name = "a pixel, padding and neighbours in another patch",
        .settings = "patch=8",
        .width = 9,
        .height = 9,
        .channels = 1,
        .in = {(const uint8_t[]){Z, 0, Z, 0, Z, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, Z, 0, Z, 0, Z, 0, Z, 0, /**/
                                 1, 1, 1, 1, 1, 1, 1, 1, 1}},
        .out = {ROW([0] = 1, [255] = 63, [SECOND + 0] = 1, [SECOND + 255] = 63, [NEXT_ROW + 16] = 1,
                    [NEXT_ROW + 17] = 6, [NEXT_ROW + 1] = 1, [NEXT_ROW + 255] = 56, [NEXT_ROW + SECOND + 0] = 1,
                    [NEXT_ROW + SECOND + 255] = 63)},
    },
    {0},
};

static struct algorithm lbp = {
    .name = "lbp",
    .summary = "histograms of local binary patterns, one for each patch, u8 gray in, u16 out",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "histograms", .kind = SLOT_TENSOR, .help = "rows x columns of patches x 256 bins"}},
    .params_size = sizeof(struct lbp_params),
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .check_shapes = check_shapes,
    .goldens = goldens,
    .bench_channels = 1,
    .bench_shape = (const int[]){4032, 3024, 1},
};

RUNGS_ALGORITHM(lbp)
