#include "common/algo/pclines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/image/draw.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const edge_words[] = {"nonzero", "sobel", NULL};
static const char *const output_words[] = {"lines", "accumulator", "both", NULL};

static const struct parameter parameters[] = {
    {.name = "d",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pclines_params, d),
     .minimum = 16,
     .maximum = 4096,
     .preset = 512,
     .check_maximum = 64,
     .help = "rows of each space, a power of two: steps of 1 / d to 2 / d radians"},
    {.name = "threshold",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pclines_params, hough.threshold),
     .minimum = 1,
     .maximum = 1 << 24,
     .preset = 100,
     .help = "a line has more votes than this"},
    {.name = "window",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pclines_params, hough.window),
     .minimum = 3,
     .maximum = HOUGH_MAX_WINDOW,
     .preset = 9,
     .help = "a line has the most votes of n x n cells, n odd"},
    {.name = "edges",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct pclines_params, hough.edges),
     .preset = HOUGH_NONZERO,
     .words = edge_words,
     .help = "edge points: pixels that are not 0, or with large Sobel gradients"},
    {.name = "edge",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pclines_params, hough.edge),
     .minimum = 0,
     .maximum = 2040,
     .preset = 150,
     .help = "with edges=sobel: an edge point has |gx| + |gy| above this"},
    {.name = "orientation",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct pclines_params, hough.orientation),
     .minimum = 0,
     .maximum = 90,
     .preset = 90,
     .help = "a point votes for lines so many degrees from its gradient, on average; 90: for all"},
    {.name = "subpixel",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pclines_params, subpixel),
     .minimum = 0,
     .maximum = 1,
     .preset = 0,
     .help = "1: a line lies at the centre of gravity of the votes around it"},
    {.name = "outputs",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct pclines_params, hough.outputs),
     .preset = HOUGH_LINES,
     .words = output_words,
     .help = "what to hand out"},
    {.name = "maximum",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pclines_params, hough.maximum),
     .minimum = 1,
     .maximum = 1 << 20,
     .preset = 4096,
     .help = "rows of the table; of more lines those with most votes"},
    {0},
};

static enum status finish(void *params_erased)
{
    struct pclines_params *params = params_erased;

    if (params->hough.window % 2 == 0)
        return status_set(STATUS_BAD_INPUT, "window=%d: a neighbourhood has an odd number of cells a side",
                          params->hough.window);
    if ((params->d & (params->d - 1)) != 0)
        return status_set(STATUS_BAD_INPUT, "d=%d is no power of two", params->d);
    if (params->hough.orientation < 90 && params->hough.edges != HOUGH_SOBEL)
        return status_set(STATUS_BAD_INPUT, "orientation=%g needs gradients: edges=sobel", params->hough.orientation);
    while (1 << params->shift < params->d)
        params->shift++;
    params->hough.theta_steps = 2 * params->d;
    params->hough.rho = 1;
    params->hough.d = params->d;
    params->hough.half_width = (int)lrint(params->hough.orientation * params->hough.theta_steps / 180);
    if (params->hough.orientation >= 90 || 2 * params->hough.half_width + 1 >= params->hough.theta_steps)
        params->hough.half_width = HOUGH_ALL_ROWS;
    params->hough.radius = params->hough.window / 2;
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct pclines_params *p = params_erased;

    snprintf(text, size,
             "d=%d threshold=%d window=%d edges=%s edge=%d orientation=%g subpixel=%d outputs=%s maximum=%d", p->d,
             p->hough.threshold, p->hough.window, edge_words[p->hough.edges], p->hough.edge, p->hough.orientation,
             p->subpixel, output_words[p->hough.outputs], p->hough.maximum);
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

struct hough_space pclines_make_space(int width, int height, const struct pclines_params *params)
{
    const int centre = (width > height ? width : height) / 2 + 1;

    return (struct hough_space){.rows = 2 * params->d, .cells = 2 * centre + 1, .centre = centre, .reach = centre};
}

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct pclines_params *params = params_erased;
    const struct hough_space space = pclines_make_space(in->width, in->height, params);

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "pclines takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "pclines takes 1 channel (gray), not %d", in->channels);
    if (params->hough.outputs != HOUGH_ACCUMULATOR)
        out[0] = (struct image){
            .width = PCLINES_COLUMNS, .height = params->hough.maximum + 1, .channels = 1, .type = PIXEL_F32};
    if (params->hough.outputs != HOUGH_LINES)
        out[1] = (struct image){.width = space.cells, .height = space.rows, .channels = 1, .type = PIXEL_I32};
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads each pixel and writes the outputs once. With an orientation a point increments a counter for each row near its
 * own; without, a bit of each pixel and row can be added in its place in a byte, by a sum and a carry: the ceiling is
 * that of vectors of bytes. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct pclines_params *params = params_erased;
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    double points = 0.05 * in->width * in->height; /* an estimate, where the data are not at hand */

    if (out && params->hough.half_width != HOUGH_ALL_ROWS) {
        points = 0;
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++) {
                struct hough_gradient gradient;
                points += hough_is_point(in, x, y, &params->hough, &gradient);
            }
    }
    cost->bytes = (double)in->width * in->height;
    if (params->hough.outputs != HOUGH_ACCUMULATOR)
        cost->bytes += 4.0 * PCLINES_COLUMNS * (params->hough.maximum + 1);
    if (params->hough.outputs != HOUGH_LINES)
        cost->bytes += 4.0 * space.rows * space.cells;
    if (params->hough.half_width == HOUGH_ALL_ROWS)
        cost->operations[OPERATION_COMPARISON_8] = 2.0 / 8 * in->width * in->height * space.rows;
    else
        cost->operations[OPERATION_COUNTER_INCREMENT] = points * (2 * params->hough.half_width + 1);
}

/* -------------------------------------------------------------------------------------- shared by CPU versions */

const char *const pclines_column_names[] = {"rho", "theta", "votes", "a", "b", "c", NULL};

struct pclines_row pclines_make_row(int n, const struct image *in, const struct pclines_params *params)
{
    const int u = n - params->d + 1, a = params->d - abs(u), b = u;
    const double length = hypot(a, b), theta = atan2(b, a);

    return (struct pclines_row){.factor = params->d / length,
                                .shift = (in->width / 2 * a + in->height / 2 * b) / length,
                                .angle = theta,
                                .theta = (float)(theta < 0 ? theta + PCLINES_PI : theta),
                                .a = a,
                                .b = b,
                                .reversed = theta < 0};
}

enum status pclines_write_lines(struct hough_list *list, const struct image *accumulator, const struct image *in,
                                const struct pclines_params *params, struct image *lines)
{
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    struct pclines_row *rows = malloc((size_t)space.rows * sizeof *rows);
    enum status status = STATUS_OK;

    if (!rows)
        TRY(status_set(STATUS_NO_MEMORY, "no memory for %d rows", space.rows));
    for (int n = 0; n < space.rows; n++)
        rows[n] = pclines_make_row(n, in, params);
    TRY(hough_sort(list));
    image_fill(lines, 0);
    *(float *)lines->data = (float)list->count;
    for (size_t i = 0; i < list->count && i < (size_t)params->hough.maximum; i++)
        pclines_write_row(list->keys[i], space, rows, in, accumulator, params, image_row(lines, (int)i + 1));
out:
    free(rows);
    free(list->keys);
    *list = (struct hough_list){0};
    return status;
}

/* ------------------------------------------------------------------------------------------------- pictures */

/* The input with its strongest lines in red. */
static enum status draw_lines(const struct image in[], const struct image out[], const void *params,
                              struct image *picture)
{
    enum { STRONGEST = 100 };
    static const uint8_t red[3] = {255, 0, 0};
    enum status status = draw_canvas(picture, &in[0]);
    const int count = slot_table_rows(&out[0]);

    (void)params;
    for (int i = 1; status == STATUS_OK && i <= count && i <= STRONGEST; i++) {
        const float *row = image_row(&out[0], i);
        hough_draw_line(picture, (double)row[0], (double)row[1], red);
    }
    return status;
}

static enum status draw_accumulator(const struct image in[], const struct image out[], const void *params,
                                    struct image *picture)
{
    (void)in;
    (void)params;
    return draw_canvas(picture, &out[1]);
}

static const char *advise(const struct image in[], const void *params)
{
    return hough_advise(&in[0], &((const struct pclines_params *)params)->hough);
}

/* --------------------------------------------------------------------------------------------------- inputs */

/* A photograph's edges, unless the version looks for them itself; or noise, one pixel in 24, and lines across: upright,
 * level, and between corners. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    static const uint8_t white[3] = {255, 255, 255};
    const char *const hard = request->hard_case ? request->hard_case : "noise";
    const int width = request->width, height = request->height;
    uint64_t seed = request->seed;
    const struct pclines_params *params = request->params;
    enum status status = inputs_make_pictures(request, types, 1, in);

    if (status == STATUS_OK && request->photograph && params->hough.edges == HOUGH_NONZERO) {
        status = hough_keep_edges(in);
        if (status != STATUS_OK)
            image_free(in);
    }
    if (status != STATUS_OK || request->photograph || (!request->hard_case && request->pattern != PATTERN_RANDOM))
        return status;
    for (int y = 0; y < height; y++) {
        uint8_t *row = image_row(in, y);
        for (int x = 0; x < width; x++)
            row[x] = strcmp(hard, "noise") == 0 ? pattern_random(&seed) % 24 == 0 : strcmp(hard, "full") == 0;
    }
    if (request->hard_case)
        return status;
    draw_line(in, width / 3, 0, width / 3, height - 1, white);
    draw_line(in, 0, height / 4, width - 1, height / 4, white);
    draw_line(in, 0, 0, width - 1, height - 1, white);
    draw_line(in, 0, height - 1, width / 2, 0, white);
    return status;
}

static const int some_shapes[][3] = {{1, 1, 1}, {64, 48, 1}, {1, 300, 1}, {300, 1, 1}, {0}};
static const int long_shapes[][3] = {{2051, 3, 1}, {65535, 2, 1}, {2, 65535, 1}, {0}};
/* 255 and 256 diagonals, which all have a pixel in one cell. */
static const int bound_shapes[][3] = {{128, 128, 1}, {129, 128, 1}, {0}};
/* Diagonals of more than 512 pixels, a vector's bits, in noise: every count shows. */
static const int deep_shapes[][3] = {{601, 560, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {.name = "none", .shapes = some_shapes, .settings = "d=16"},
    {.name = "full", .shapes = some_shapes, .settings = "d=16 threshold=1 outputs=both"},
    {.name = "full", .shapes = bound_shapes, .settings = "d=16 outputs=both"}, /* a counter of 8 bits overflows */
    {.name = "full", .shapes = long_shapes, .settings = "d=16 outputs=both"},  /* a counter of 16 bits overflows */
    {.name = "noise", .shapes = deep_shapes, .settings = "d=16 threshold=200 outputs=both"},
    {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

#define FLOATS(...)                                                                                                    \
    (const uint8_t *)(const float[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct golden goldens[] = {
    {
        .name = "no edges",
        .settings = "d=16 threshold=1 maximum=1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0)},
    },
    {
        /* X = 0, Y = -2 .. 2: floor((Y u + 8) / 16) is 0 for all five while 2 |u| < 8: u = -3 .. 3, a plateau, of which
         * u = -3 counts: a = 13, b = -3. theta = atan2(-3, 13) + pi, rho = -(1 * 13 - 2 * 3) / sqrt(178). */
        .name = "an upright line",
        .settings = "d=16 threshold=4 window=3 maximum=2",
        .width = 3,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 1, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 1, 0}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, /**/ -0.52467221F, 2.91479373F, 5, 13, -3, 0, /**/ 0, 0, 0, 0, 0, 0)},
    },
    {
        /* The same level: u = -15 .. -13 and 13 .. 16, which meet where the spaces do; u = -15 has the smallest index:
         * a = 1, b = -15, rho = -(2 * 1 - 1 * 15) / sqrt(226). */
        .name = "a level line, once, where the spaces meet",
        .settings = "d=16 threshold=4 window=9 maximum=2",
        .width = 5,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, 0, /**/ 1, 1, 1, 1, 1, /**/ 0, 0, 0, 0, 0}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, /**/ 0.864747107F, 1.63736451F, 5, 1, -15, 0, /**/ 0, 0, 0, 0, 0, 0)},
    },
    {
        /* The upright line again: beside 5 votes at u = -3 there are 4 at u = -4 and 5 at u = -2, so that 5, 3 and 5
         * weigh at u = -3 + 2 / 13. theta is 2 / 13 of the way from atan2(-3, 13) to atan2(-2, 14), and pi; rho = -(a +
         * 2 b) / |(a, b)|. */
        .name = "an upright line, between two rows",
        .settings = "d=16 threshold=4 window=3 maximum=1 subpixel=1",
        .width = 3,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 1, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 1, 0}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, /**/ -0.554421484F, 2.92785573F, 5, 13.1538458F, -2.84615374F, 0)},
    },
    {
        /* An upright edge: X = -1 and 0 with gradients to the right, bin u = 0, and half_width = round(5 * 32 / 180) =
         * 1. In u = -1 .. 1 either column is 5 votes in one cell, v = -1 and 0, a plateau, of which u = -1, v = -1
         *    counts. */
        .name = "orientation",
        .settings = "d=16 threshold=4 window=3 maximum=1 edges=sobel orientation=5",
        .width = 4,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 255, 255, /**/ 0, 0, 255, 255, /**/ 0, 0, 255, 255, /**/ 0, 0, 255, 255, /**/
                                 0, 0, 255, 255}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, /**/ -0.798228145F, 3.0750246F, 5, 15, -1, 16)},
    },
    {0},
};

static const char *const check_settings[] = {
    "d=512 threshold=5",
    "d=16 threshold=4 window=3 maximum=20",
    "d=64 threshold=3 window=31 outputs=both",
    "d=32 outputs=accumulator",
    "d=128 edges=sobel threshold=10 outputs=both",
    "d=64 edges=sobel orientation=10 threshold=3 outputs=both subpixel=1",
    "d=16 edges=sobel orientation=0 threshold=2 window=3 subpixel=1",
    "d=512 edges=sobel orientation=30 threshold=3",
    "d=32 subpixel=1 threshold=4 window=31",
    NULL,
};

static struct algorithm pclines = {
    .name = "pclines",
    .summary = "straight lines by parallel coordinates, in whole numbers: rho, theta, votes and a, b, c",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "lines",
                 .kind = SLOT_TABLE,
                 .help = "most votes first; rho in pixels, theta in radians",
                 .columns = pclines_column_names,
                 .draw = draw_lines},
                {.name = "accumulator", .kind = SLOT_MATRIX, .help = "votes; a row a u", .draw = draw_accumulator}},
    .params_size = sizeof(struct pclines_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .advise = advise,
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

RUNGS_ALGORITHM(pclines)
