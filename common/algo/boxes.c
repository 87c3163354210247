#include "common/algo/boxes.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/contract/inputs.h"
#include "common/image/draw.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const struct parameter parameters[] = {
    {.name = "min_area",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct boxes_params, min_area),
     .minimum = 1,
     .maximum = INT32_MAX,
     .preset = 1,
     .help = "smallest component that gets a box, in pixels"},
    {.name = "max_boxes",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct boxes_params, max_boxes),
     .minimum = 1,
     .maximum = IMAGE_MAX_SIDE - 1,
     .preset = 4096,
     .help = "rows of the table; of more components the first by label"},
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct boxes_params *params = params_erased;

    snprintf(text, size, "min_area=%d max_boxes=%d", params->min_area, params->max_boxes);
}

const char *const boxes_column_names[] = {"label", "x_min",      "y_min",      "width", "height",
                                          "area",  "x_centroid", "y_centroid", NULL};

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    if (in->type != PIXEL_I32)
        return status_set(STATUS_BAD_INPUT, "boxes takes i32 labels, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "boxes takes 1 channel (labels), not %d", in->channels);
    if ((int64_t)in->width * in->height > INT32_MAX)
        return status_set(STATUS_BAD_INPUT, "boxes takes at most 2^31-1 pixels, so that an i32 holds every area");
    out->width = BOXES_COLUMNS;
    out->height = ((const struct boxes_params *)params)->max_boxes + 1;
    out->channels = 1;
    out->type = PIXEL_I32;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads each label once and writes the table; each pixel is at least compared with its neighbour. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = 4 * pixels + 4.0 * BOXES_COLUMNS * (((const struct boxes_params *)params)->max_boxes + 1);
    cost->operations[OPERATION_OTHER] = pixels;
}

/* ------------------------------------------------------------------------------------------------ pictures */

void boxes_draw(struct image *image, const struct image *table, const uint8_t *colour)
{
    const int count = boxes_count(table);

    for (int k = 1; k <= count; k++) {
        const int32_t *row = image_row(table, k);

        draw_rectangle(image, row[1], row[2], row[3], row[4], colour);
    }
}

/* The components in colours, the boxes around them in white. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    static const uint8_t white[3] = {255, 255, 255};
    const enum status status = image_colour_labels(picture, &in[0]);

    (void)params;
    if (status == STATUS_OK)
        boxes_draw(picture, &out[0], white);
    return status;
}

/* ------------------------------------------------------------------------------------------------- labels */

static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* A label image out of any samples: cells of 1x1 pixels, in large images of 8x8, are foreground by the sample at their
 * corner, three of ten of a random image, and get by two scans the labels that labelling.h asks for. Small images also
 * get what labelling never makes: values that mean background (negative and too large ones) and, where the width is
 * odd, components that are strewn about. */
static void prepare(struct image in[])
{
    const int width = in->width, height = in->height, pixels = width * height;
    const int cell = pixels < 1 << 16 ? 1 : 8;
    int32_t *parent = malloc((size_t)pixels * sizeof *parent);

    if (!parent) { /* all background is a legal input, too */
        image_fill(in, 0);
        return;
    }
    for (int i = 0; i < pixels; i++) {
        const int x = i % width, y = i / width;
        const int32_t *corner = (const int32_t *)image_row(in, y / cell * cell) + x / cell * cell;
        const int before[4] = {x > 0 ? i - 1 : -1, y > 0 ? i - width : -1, x > 0 && y > 0 ? i - width - 1 : -1,
                               x + 1 < width && y > 0 ? i - width + 1 : -1};
        parent[i] = *corner > 850000000 ? i : -1; /* of -2^31 .. 2^31-1 */
        for (int k = 0; k < 4 && parent[i] >= 0; k++) {
            if (before[k] < 0 || parent[before[k]] < 0)
                continue;
            const int32_t a = find(parent, i), b = find(parent, before[k]);
            parent[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int i = 0; i < pixels; i++) {
        int32_t *label = (int32_t *)image_row(in, i / width) + i % width;
        const int32_t sample = *label;
        *label = parent[i] >= 0 ? find(parent, i) + 1 : 0;
        if (cell == 1 && *label == 0 && sample % 16 == 0)
            *label = sample / 16 % 2 ? -1 - (sample & 0xffff) : pixels + 1 + (sample & 0xffff);
        if (cell == 1 && width % 2 && *label > 0 && *label <= pixels)
            *label = 1 + (sample & 0x7fffffff) % pixels / 3;
    }
    free(parent);
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_I32};
    enum status status = inputs_make_pictures(request, types, 1, in);

    if (status == STATUS_OK)
        prepare(in);
    return status;
}

/* -------------------------------------------------------------------------- answers worked out by hand */

#define WORDS(...)                                                                                                     \
    (const uint8_t *)(const int32_t[])                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct golden goldens[] = {
    {
        .name = "background, also by values that are no labels",
        .settings = "max_boxes=1",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {WORDS(0, -1, 5, 0)},
        .out = {WORDS(0, 0, 0, 0, 0, 0, 0, 0, /**/
                      0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {
        .name = "1x1",
        .settings = "max_boxes=2",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {WORDS(1)},
        .out = {WORDS(1, 0, 0, 0, 0, 0, 0, 0, /**/
                      1, 0, 0, 1, 1, 1, 0, 0, /**/
                      0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {
        /* Label 2: (1,0) (0,1) (1,1): sums 2 and 2 of 3 pixels, (512 + 1) / 3 = 171 for both.
         * Label 4: (3,0) (3,1) (3,2): x (9 * 256 + 1) / 3 = 768, y (3 * 256 + 1) / 3 = 256. */
        .name = "two components",
        .settings = "max_boxes=3",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {WORDS(0, 2, 0, 4, /**/
                     2, 2, 0, 4, /**/
                     0, 0, 0, 4)},
        .out = {WORDS(2, 0, 0, 0, 0, 0, 0, 0,     /**/
                      2, 0, 0, 2, 2, 3, 171, 171, /**/
                      4, 3, 0, 1, 3, 3, 768, 256, /**/
                      0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {
        /* Areas 1, 2, 3: min_area 2 leaves labels 2 and 4. Label 2: x (1 + 2) / 2 = 1.5 -> 384. Label 4 is strewn:
         * (0,1) (2,1) (3,1), x sum 5: (1280 + 1) / 3 = 427, y (768 + 1) / 3 = 256. */
        .name = "min_area",
        .settings = "min_area=2 max_boxes=2",
        .width = 4,
        .height = 2,
        .channels = 1,
        .in = {WORDS(1, 2, 2, 0, /**/
                     4, 0, 4, 4)},
        .out = {WORDS(2, 0, 0, 0, 0, 0, 0, 0,   /**/
                      2, 1, 0, 2, 1, 2, 384, 0, /**/
                      4, 0, 1, 4, 1, 3, 427, 256)},
    },
    {
        /* Three components, one row: the smallest label, which is not the first in the image; count says 3. */
        .name = "more components than rows",
        .settings = "max_boxes=1",
        .width = 3,
        .height = 1,
        .channels = 1,
        .in = {WORDS(3, 1, 2)},
        .out = {WORDS(3, 0, 0, 0, 0, 0, 0, 0, /**/
                      1, 1, 0, 1, 1, 1, 256, 0)},
    },
    {0},
};

static const char *const check_settings[] = {"min_area=5", "max_boxes=1", "min_area=2 max_boxes=20", "min_area=1000000",
                                             NULL};

static struct algorithm boxes = {
    .name = "boxes",
    .summary = "bounding box, area and centroid of each component of a label image, as a table",
    .inputs = {{.name = "labels", .kind = SLOT_LABELS, .type = PIXEL_I32}},
    .outputs = {{.name = "boxes", .kind = SLOT_TABLE, .columns = boxes_column_names, .draw = draw}},
    .params_size = sizeof(struct boxes_params),
    .parameters = parameters,
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

RUNGS_ALGORITHM(boxes)
