#include "common/algo/edges.h"

#include <stdio.h>
#include <string.h>

#include "common/algo/otsu.h"
#include "common/contract/inputs.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const high_words[] = {"otsu", NULL}, *const low_words[] = {"none", NULL};
static const char *const thin_words[] = {"none", "canny", NULL};
static const char *const output_words[] = {"mask", "points", "both", NULL};

static const struct parameter parameters[] = {
    {.name = "high",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct edges_params, high),
     .minimum = 0,
     .maximum = 2040,
     .preset = 150,
     .words = high_words,
     .help = "a strong pixel has |gx| + |gy| above this; otsu: by their histogram"},
    {.name = "low",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct edges_params, low),
     .minimum = 0,
     .maximum = 2040,
     .preset = EDGES_NO_LOW,
     .words = low_words,
     .help = "a weak pixel above this counts where weak ones join it to a strong one"},
    {.name = "thin",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct edges_params, thin),
     .preset = EDGES_THICK,
     .words = thin_words,
     .help = "canny: the largest across the edge alone"},
    {.name = "outputs",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct edges_params, outputs),
     .preset = EDGES_MASK,
     .words = output_words,
     .help = "what to hand out"},
    {.name = "maximum",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct edges_params, maximum),
     .minimum = 1,
     .maximum = 1 << 20,
     .preset = 1 << 18,
     .help = "rows of the table of points, the first in raster order"},
    {0},
};

static void word_or_number(char *text, size_t size, const char *word, int value)
{
    if (value < 0)
        snprintf(text, size, "%s", word);
    else
        snprintf(text, size, "%d", value);
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct edges_params *p = params_erased;
    char high[16], low[16];

    word_or_number(high, sizeof high, high_words[0], p->high);
    word_or_number(low, sizeof low, low_words[0], p->low);
    snprintf(text, size, "high=%s low=%s thin=%s outputs=%s maximum=%d", high, low, thin_words[p->thin],
             output_words[p->outputs], p->maximum);
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct edges_params *params = params_erased;

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "edges takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "edges takes 1 channel (gray), not %d", in->channels);
    if (params->high == EDGES_OTSU && (int64_t)in->width * in->height > OTSU_MAX_PIXELS)
        return status_set(STATUS_BAD_INPUT, "high=otsu takes at most 2^29 pixels");
    if (params->outputs != EDGES_POINTS)
        out[0] = (struct image){.width = in->width, .height = in->height, .channels = 1, .type = PIXEL_U8};
    if (params->outputs != EDGES_MASK)
        out[1] =
            (struct image){.width = EDGES_COLUMNS, .height = params->maximum + 1, .channels = 1, .type = PIXEL_I32};
    return STATUS_OK;
}

/* Sobel, and one pixel more for thinning; hysteresis has no end. */
static int radius(const void *params)
{
    return ((const struct edges_params *)params)->thin == EDGES_CANNY ? 2 : 1;
}

/* Reads each pixel and writes the outputs once; two gradients of six additions, a sum and a comparison a pixel. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct edges_params *params = params_erased;
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = pixels * (params->outputs == EDGES_POINTS ? 1 : 2);
    if (params->outputs != EDGES_MASK)
        cost->bytes += 4.0 * EDGES_COLUMNS * (params->maximum + 1);
    cost->operations[OPERATION_OTHER] = 14 * pixels;
}

struct edges_thresholds edges_find_thresholds(const struct edges_params *params, const uint32_t *histogram)
{
    return edges_order_thresholds(params, params->high == EDGES_OTSU ? otsu_threshold(histogram) : 0);
}

const char *const edges_column_names[] = {"x", "y", "gx", "gy", NULL};

/* --------------------------------------------------------------------------------------------------- inputs */

/* ramp: steps of one gray level, whose magnitudes tie all along them. steep: black and white stripes along both
 * diagonals. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    enum status status = inputs_make_pictures(request, types, 1, in);

    for (int y = 0; status == STATUS_OK && request->hard_case && y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            ((uint8_t *)image_row(in, y))[x] = strcmp(request->hard_case, "ramp") == 0
                                                   ? (uint8_t)(x / 4 + y / 3)
                                                   : (uint8_t)((x + (y / 64 % 2 ? y : 65536 - y)) / 3 % 2 ? 255 : 0);
    return status;
}

static const int shapes[][3] = {{64, 48, 1}, {2051, 9, 1}, {9, 2051, 1}, {301, 277, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {.name = "ramp", .shapes = shapes, .settings = "high=3 low=1 thin=canny outputs=both maximum=90000"},
    {.name = "steep", .shapes = shapes, .settings = "high=otsu low=400 outputs=both maximum=90000"},
    {.name = "steep", .shapes = shapes, .settings = "high=700 low=200 thin=canny"},
    {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

#define COUNTS(...)                                                                                                    \
    (const uint8_t *)(const int32_t[])                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct golden goldens[] = {
    {
        .name = "1x1",
        .settings = "high=0 outputs=both maximum=1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){200}},
        .out = {(const uint8_t[]){0}, COUNTS(0, 0, 0, 0, /**/ 0, 0, 0, 0)},
    },
    {
        /* A step of 10 between columns 1 and 2: gx = 40 on both sides of it. */
        .name = "a step",
        .settings = "high=39 outputs=both maximum=3",
        .width = 4,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){5, 5, 15, 15, /**/ 5, 5, 15, 15}},
        .out = {(const uint8_t[]){0, 255, 255, 0, /**/ 0, 255, 255, 0},
                COUNTS(4, 0, 0, 0, /**/ 1, 0, 40, 0, /**/ 2, 0, 40, 0, /**/ 1, 1, 40, 0)},
    },
    {
        /* Both sides are equal: the left one has m > 0 to its left and m >= 40 to its right; the right one has not m >
         * 40. */
        .name = "a step, thin",
        .settings = "high=39 thin=canny",
        .width = 4,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){5, 5, 15, 15, /**/ 5, 5, 15, 15}},
        .out = {(const uint8_t[]){0, 255, 0, 0, /**/ 0, 255, 0, 0}},
    },
    {
        /* One row: gx = 4 (right - left): 0 0 40 40 20 20 0 0 0 40 ... with rows replicated: steps of 10, 5 and 5 at
         * columns 2|3, 4|5 and 9|10: m = 0 0 40 40 20 20 0 0 0 20 20 0. Weak above 15 joins 2 to 5, and 9, 10 stand
         * alone. */
        .name = "hysteresis",
        .settings = "high=30 low=15",
        .width = 12,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 10, 10, 15, 15, 15, 15, 15, 20, 20}},
        .out = {(const uint8_t[]){0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0}},
    },
    {0},
};

const char *edges_opencv_declines(const struct image in[], const void *params_erased)
{
    const struct edges_params *params = params_erased;

    (void)in;
    if (params->outputs != EDGES_MASK)
        return "Canny gives the mask alone (outputs=mask)";
    if (params->thin != EDGES_CANNY || params->high == EDGES_OTSU)
        return "Canny thins, and has no threshold of its own (thin=canny high=H)";
    return NULL;
}

static const char *const check_settings[] = {
    "thin=canny",
    "thin=canny high=700 low=300",
    "low=400 high=900",
    "low=900 high=400 thin=canny outputs=both maximum=9000",
    "high=otsu outputs=points maximum=100",
    "high=otsu low=600 thin=canny",
    "high=0 outputs=both maximum=9999",
    "outputs=both maximum=2000",
    "high=2040",
    NULL,
};

static struct algorithm edges = {
    .name = "edges",
    .summary =
        "edge points of a gray picture by Sobel's gradient: mask and points; thin and by hysteresis it is Canny's",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "mask", .kind = SLOT_PICTURE, .help = "255 for edge points"},
                {.name = "points",
                 .kind = SLOT_TABLE,
                 .help = "in raster order, with their gradients",
                 .columns = edges_column_names}},
    .params_size = sizeof(struct edges_params),
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .inputs_stay_in_place = true,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .goldens = goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(edges)
