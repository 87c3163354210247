#include "common/algo/labelling.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/contract/inputs.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const struct parameter parameters[] = {
    {.name = "connectivity",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct labelling_params, connectivity),
     .minimum = 4,
     .maximum = 8,
     .preset = 8,
     .help = "neighbours of a pixel: 8, or 4 (no diagonals)"},
    {0},
};

static enum status finish(void *params_erased)
{
    const struct labelling_params *params = params_erased;

    if (params->connectivity != 4 && params->connectivity != 8)
        return status_set(STATUS_BAD_INPUT, "connectivity=%d: must be 8 or 4", params->connectivity);
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    snprintf(text, size, "connectivity=%d", ((const struct labelling_params *)params_erased)->connectivity);
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "labelling takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "labelling takes 1 channel (a mask), not %d", in->channels);
    if ((int64_t)in->width * in->height > INT32_MAX)
        return status_set(STATUS_BAD_INPUT, "labelling takes at most 2^31-1 pixels, so that an i32 holds every label");
    out->width = in->width;
    out->height = in->height;
    out->channels = 1;
    out->type = PIXEL_I32;
    return STATUS_OK;
}

/* The component may reach anywhere: the whole image is the neighbourhood. 1 is what one step looks at. */
static int radius(const void *params)
{
    (void)params;
    return 1;
}

/* A byte in, a label out, and a look at each pixel with its neighbours before it in raster order. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = 5 * pixels;
    cost->operations[OPERATION_OTHER] = ((const struct labelling_params *)params)->connectivity / 2 * pixels;
}

/* ------------------------------------------------------------------------------------------------- masks */

/* Foreground is what is at least as bright as the mean (flat: what is not 0). Small images, which only checks use, take
 * in turn 100 %, 119 % and 81 % of the mean, that is 50, 40 and 59 % of uniform noise: 40.7 and 59.3 % are where the
 * components of connectivity 8 and 4 begin to span the image, and nowhere else are they as long and winding. There the
 * foreground also keeps its gray values, for 255 is not the only one; large images get 0 and 255, as thresholding
 * gives them. */
void labelling_make_mask(struct image *image)
{
    static const int percents[3] = {100, 119, 81};
    const int64_t pixels = (int64_t)image->width * image->height;
    const bool small = pixels < 1 << 16;
    const int percent = small ? percents[(image->width + image->height) % 3] : 100;
    const uint8_t first = *(const uint8_t *)image_row(image, 0);
    bool flat = true;
    int64_t sum = 0;

    for (int y = 0; y < image->height; y++) {
        const uint8_t *row = image_row(image, y);
        for (int x = 0; x < image->width; x++) {
            sum += row[x];
            flat &= row[x] == first;
        }
    }
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = image_row(image, y);
        for (int x = 0; x < image->width; x++) {
            const bool foreground = flat ? row[x] != 0 : 100 * pixels * row[x] >= percent * sum && row[x] > 0;
            row[x] = !foreground ? 0 : small ? row[x] : 255;
        }
    }
}

static void prepare(struct image in[])
{
    labelling_make_mask(&in[0]);
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    enum status status = inputs_make_pictures(request, types, 1, in);

    if (status == STATUS_OK)
        prepare(in);
    return status;
}

void labelling_normalise(const struct image in[], struct image *labels, const void *params)
{
    const int64_t largest = (int64_t)labels->width * labels->height + 1;
    int32_t *first = calloc((size_t)largest + 1, sizeof *first);

    (void)params;
    for (int y = 0; first && y < labels->height; y++) {
        int32_t *row = image_row(labels, y);
        const uint8_t *mask = image_row(&in[0], y);
        for (int x = 0; x < labels->width; x++) {
            if (!mask[x])
                row[x] = 0;
            else if (row[x] > 0 && row[x] <= largest) {
                if (!first[row[x]])
                    first[row[x]] = y * labels->width + x + 1;
                row[x] = first[row[x]];
            }
        }
    }
    free(first);
}

/* -------------------------------------------------------------------------- answers worked out by hand
 * Raster index + 1 of a 4x3 image: 1 2 3 4 / 5 6 7 8 / 9 10 11 12. */

#define LABELS(...)                                                                                                    \
    (const uint8_t *)(const int32_t[])                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct golden goldens[] = {
    {
        .name = "background",
        .settings = "",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, 0, 0}},
        .out = {LABELS(0, 0, 0, 0, 0, 0)},
    },
    {
        .name = "1x1, a value that is not 255",
        .settings = "",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){1}},
        .out = {LABELS(1)},
    },
    {
        /* The pixels 2, 7 and 12 touch at their corners; 9 is 2 away from 7. */
        .name = "a diagonal, connectivity 8",
        .settings = "connectivity=8",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 255, 0, 0, /**/
                                 0, 0, 9, 0,   /**/
                                 7, 0, 0, 1}},
        .out = {LABELS(0, 2, 0, 0, /**/
                       0, 0, 2, 0, /**/
                       9, 0, 0, 2)},
    },
    {
        /* The same, where corners do not count. */
        .name = "a diagonal, connectivity 4",
        .settings = "connectivity=4",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 255, 0, 0, /**/
                                 0, 0, 9, 0,   /**/
                                 7, 0, 0, 1}},
        .out = {LABELS(0, 2, 0, 0, /**/
                       0, 0, 7, 0, /**/
                       9, 0, 0, 12)},
    },
    {
        /* Two arms that only meet in the last row: 1 and 3 are seen before it is known that they are one. */
        .name = "U",
        .settings = "connectivity=4",
        .width = 3,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){5, 0, 5, /**/
                                 5, 0, 5, /**/
                                 5, 5, 5}},
        .out = {LABELS(1, 0, 1, /**/
                       1, 0, 1, /**/
                       1, 1, 1)},
    },
    {
        /* The first pixel in raster order, 2, is neither the leftmost nor the topmost of the left arm. */
        .name = "the first pixel is not the leftmost",
        .settings = "connectivity=8",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 1, 0, 1, /**/
                                 1, 0, 0, 1, /**/
                                 0, 1, 0, 0}},
        .out = {LABELS(0, 2, 0, 4, /**/
                       2, 0, 0, 4, /**/
                       0, 2, 0, 0)},
    },
    {
        /* A W: 1, 3 and 5 start apart; 12 joins 1 and 3, 14 joins 3 and 5. */
        .name = "W",
        .settings = "connectivity=8",
        .width = 5,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){1, 0, 1, 0, 1, /**/
                                 1, 0, 1, 0, 1, /**/
                                 0, 1, 0, 1, 0}},
        .out = {LABELS(1, 0, 1, 0, 1, /**/
                       1, 0, 1, 0, 1, /**/
                       0, 1, 0, 1, 0)},
    },
    {
        /* A ring and what it holds: the pixel inside touches no side of the ring. */
        .name = "ring around a point",
        .settings = "connectivity=8",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){2, 2, 2, 2, 2, /**/
                                 2, 0, 0, 0, 2, /**/
                                 2, 0, 3, 0, 2, /**/
                                 2, 0, 0, 0, 2, /**/
                                 2, 2, 2, 2, 2}},
        .out = {LABELS(1, 1, 1, 1, 1,  /**/
                       1, 0, 0, 0, 1,  /**/
                       1, 0, 13, 0, 1, /**/
                       1, 0, 0, 0, 1,  /**/
                       1, 1, 1, 1, 1)},
    },
    {0},
};

static const char *const check_settings[] = {"connectivity=4", NULL};

static struct algorithm labelling = {
    .name = "labelling",
    .summary = "connected components of a mask, 8- or 4-connected; a label is the component's first raster index + 1",
    .inputs = {{.name = "mask", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "labels", .kind = SLOT_LABELS}},
    .params_size = sizeof(struct labelling_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .goldens = goldens,
    .bench_channels = 1,
    .make_inputs = make_inputs,
};

RUNGS_ALGORITHM(labelling)
