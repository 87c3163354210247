#include "common/algo/labelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {.name = "consecutive",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct labelling_params, consecutive),
     .maximum = 1,
     .help = "1: labels are 1, 2, 3 ... by first pixel, not raster indices"},
    {.name = "statistics",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct labelling_params, statistics),
     .maximum = 1,
     .help = "1: also a table of boxes, areas and centroids"},
    {.name = "max_components",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct labelling_params, max_components),
     .minimum = 1,
     .maximum = IMAGE_MAX_SIDE - 1,
     .preset = 4096,
     .help = "rows of that table; of more components the first by label"},
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
    const struct labelling_params *params = params_erased;
    int length = snprintf(text, size, "connectivity=%d", params->connectivity);

    if (params->consecutive)
        length += snprintf(text + length, size - (size_t)length, " consecutive=1");
    if (params->statistics)
        snprintf(text + length, size - (size_t)length, " statistics=1 max_components=%d", params->max_components);
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params_erased, struct image out[])
{
    const struct labelling_params *params = params_erased;

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
    if (params->statistics) {
        out[1].width = BOXES_COLUMNS;
        out[1].height = params->max_components + 1;
        out[1].channels = 1;
        out[1].type = PIXEL_I32;
    }
    return STATUS_OK;
}

/* The component may reach anywhere: the whole image is the neighbourhood. 1 is what one step looks at. */
static int radius(const void *params)
{
    (void)params;
    return 1;
}

/* A byte in, a label out, and a look at each pixel with its neighbours before it in raster order. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct labelling_params *params = params_erased;
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = 5 * pixels + (params->statistics ? 4.0 * BOXES_COLUMNS * (params->max_components + 1) : 0);
    cost->operations[OPERATION_OTHER] = params->connectivity / 2 * pixels;
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

/* ------------------------------------------------------------------------------------------- hard cases */

struct canvas {
    struct image *image;
    uint64_t random; /* state of pattern_random() */
    int density;     /* percent */
    int grain;       /* side of a square of noise */
};

/* Foreground of any gray value but 0. */
static void dot(struct canvas *canvas, int x, int y)
{
    ((uint8_t *)image_row(canvas->image, y))[x] = (uint8_t)(1 + pattern_random(&canvas->random) % 255);
}

static void line(struct canvas *canvas, int *x, int *y, int to_x, int to_y)
{
    while (*x != to_x || *y != to_y) {
        *x += (to_x > *x) - (to_x < *x);
        *y += (to_y > *y) - (to_y < *y);
        dot(canvas, *x, *y);
    }
}

/* One line of 1 pixel from the corner inwards, with 1 pixel between its turns. */
static void draw_spiral(struct canvas *canvas)
{
    int left = 0, top = 0, right = canvas->image->width - 1, bottom = canvas->image->height - 1, x = 0, y = 0;

    dot(canvas, 0, 0);
    for (;;) {
        line(canvas, &x, &y, right, y);
        line(canvas, &x, &y, x, bottom);
        if (right - left < 2 || bottom - top < 4)
            return;
        line(canvas, &x, &y, left, y);
        line(canvas, &x, &y, x, top += 2);
        left += 2, right -= 2, bottom -= 2;
        if (right <= left)
            return;
    }
}

/* Teeth, every second column, that only the last row joins: half as many labels as columns meet there. */
static void draw_comb(struct canvas *canvas)
{
    for (int y = 0; y < canvas->image->height; y++)
        for (int x = 0; x < canvas->image->width; x += y + 1 < canvas->image->height ? 2 : 1)
            dot(canvas, x, y);
}

/* One line through every second row, that turns at the ends. */
static void draw_snake(struct canvas *canvas)
{
    for (int y = 0, x = 0; y < canvas->image->height; y += 2) {
        const int end = x ? 0 : canvas->image->width - 1;
        dot(canvas, x, y);
        line(canvas, &x, &(int){y}, end, y);
        if (y + 1 < canvas->image->height)
            dot(canvas, x, y + 1);
    }
}

/* Every second pixel: one component of connectivity 8, the most components of connectivity 4. */
static void draw_checkerboard(struct canvas *canvas)
{
    for (int y = 0; y < canvas->image->height; y++)
        for (int x = y % 2; x < canvas->image->width; x += 2)
            dot(canvas, x, y);
}

/* Every second pixel of every second row: the most components of connectivity 8. */
static void draw_lattice(struct canvas *canvas)
{
    for (int y = 0; y < canvas->image->height; y += 2)
        for (int x = 0; x < canvas->image->width; x += 2)
            dot(canvas, x, y);
}

/* Posts 2 pixels apart, each with a wall to the left or upwards (the binary tree maze): one component. */
static void draw_maze(struct canvas *canvas)
{
    for (int y = 0; y < canvas->image->height; y += 2)
        for (int x = 0; x < canvas->image->width; x += 2) {
            const bool up = y > 0 && (x == 0 || pattern_random(&canvas->random) % 2);
            dot(canvas, x, y);
            if (up)
                dot(canvas, x, y - 1);
            else if (x > 0)
                dot(canvas, x - 1, y);
        }
}

static void draw_noise(struct canvas *canvas)
{
    const int grain = canvas->grain, width = canvas->image->width, height = canvas->image->height;

    for (int top = 0; top < height; top += grain)
        for (int left = 0; left < width; left += grain) {
            if ((int)(pattern_random(&canvas->random) % 100) >= canvas->density)
                continue;
            for (int y = top; y < top + grain && y < height; y++)
                for (int x = left; x < left + grain && x < width; x++)
                    dot(canvas, x, y);
        }
}

static const struct drawing {
    const char *name;
    void (*draw)(struct canvas *canvas);
    int density, grain;
} drawings[] = {
    {"spiral", draw_spiral, 0, 0},
    {"comb", draw_comb, 0, 0},
    {"snake", draw_snake, 0, 0},
    {"checkerboard", draw_checkerboard, 0, 0},
    {"lattice", draw_lattice, 0, 0},
    {"maze", draw_maze, 0, 0},
    {"noise of 10 %", draw_noise, 10, 1},
    {"noise of 65 %", draw_noise, 65, 1},
    {"noise of 90 %", draw_noise, 90, 1},
    {"full", draw_noise, 100, 1},
    {"noise in squares of 3", draw_noise, 50, 3},
    {"noise in squares of 16", draw_noise, 60, 16},
};

/* Lines as long as they are, and noise near where components span the image, are small where labels are all that is
 * asked for: rungs that hand labels on from pixel to pixel take as many passes as a path has pixels or bends. The large
 * shapes have a side beyond 2048, more than 2^16 pixels, and rows that no tile divides. */
static const int shapes_of_lines[][3] = {{43, 38, 1}, {2, 33, 1}, {0}};
static const int shapes_of_noise[][3] = {{131, 67, 1}, {64, 48, 1}, {0}};
static const int flat_shapes[][3] = {{2177, 3, 1}, {5, 2113, 1}, {301, 259, 1}, {0}};
static const int large_shapes[][3] = {{2177, 33, 1}, {41, 2113, 1}, {301, 259, 1}, {0}};
/* One component whose columns, or rows, add up to more than 2^32; 65,581 components, of which the table's last ones
 * begin below row
 * 4096. */
static const int long_shapes[][3] = {{65535, 3, 1}, {3, 65535, 1}, {0}};
static const int many_shapes[][3] = {{31, 4231, 1}, {0}};

static const struct hard_case hard_cases[] = {
    {.name = "spiral", .shapes = shapes_of_lines},
    {.name = "spiral", .shapes = shapes_of_lines, .settings = "connectivity=4 consecutive=1"},
    {.name = "comb", .shapes = shapes_of_lines, .settings = "connectivity=4"},
    {.name = "snake", .shapes = shapes_of_lines},
    {.name = "snake", .shapes = large_shapes, .settings = "connectivity=4 consecutive=1 statistics=1"},
    {.name = "checkerboard", .shapes = shapes_of_noise},
    {.name = "checkerboard", .shapes = large_shapes, .settings = "connectivity=4 consecutive=1"},
    {.name = "checkerboard",
     .shapes = many_shapes,
     .settings = "connectivity=4 consecutive=1 statistics=1 max_components=65534"},
    {.name = "lattice", .shapes = shapes_of_noise, .settings = "statistics=1"},
    {.name = "maze", .shapes = shapes_of_lines, .settings = "connectivity=4"},
    {.name = "maze", .shapes = large_shapes, .settings = "consecutive=1"},
    {.name = "noise of 10 %", .shapes = flat_shapes},
    {.name = "noise of 10 %", .shapes = large_shapes, .settings = "statistics=1 consecutive=1"},
    {.name = "noise of 65 %", .shapes = shapes_of_noise, .settings = "connectivity=4"},
    {.name = "noise of 65 %",
     .shapes = shapes_of_noise,
     .settings = "statistics=1"}, /* runs end with a row of whole words */
    {.name = "noise of 65 %", .shapes = large_shapes, .settings = "connectivity=4 statistics=1 max_components=60"},
    {.name = "noise of 90 %", .shapes = shapes_of_noise},
    {.name = "noise in squares of 3", .shapes = shapes_of_noise},
    {.name = "noise in squares of 3", .shapes = large_shapes, .settings = "consecutive=1"},
    {.name = "noise in squares of 16", .shapes = large_shapes, .settings = "statistics=1 consecutive=1"},
    {.name = "full", .shapes = long_shapes, .settings = "statistics=1"},
    {0},
};

static enum status draw_hard_case(const struct input_request *request, struct image *image)
{
    enum status status = STATUS_OK;

    TRY(image_create(image, request->width, request->height, 1, PIXEL_U8));
    image_fill(image, 0);
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++)
        if (strcmp(drawings[i].name, request->hard_case) == 0) {
            drawings[i].draw(&(struct canvas){
                .image = image, .random = request->seed, .density = drawings[i].density, .grain = drawings[i].grain});
            return STATUS_OK;
        }
    image_free(image);
    status = status_set(STATUS_BAD_INPUT, "labelling has no hard case '%s'", request->hard_case);
out:
    return status;
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    enum status status;

    if (request->hard_case)
        return draw_hard_case(request, &in[0]);
    status = inputs_make_pictures(request, types, 1, in);
    if (status == STATUS_OK)
        labelling_make_mask(&in[0]);
    return status;
}

/* ------------------------------------------------------------------------------------------------- peers */

const char *labelling_one_kind_only(const struct image in[], const void *params)
{
    const bool first = *(const uint8_t *)in->data;

    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++)
            if ((row[x] != 0) != first)
                return "finds no components";
    }
    return labelling_labels_only(in, params);
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

void labelling_normalise(const struct image in[], struct image out[], const void *params_erased)
{
    const struct labelling_params *params = params_erased;
    struct image *labels = &out[0], *table = &out[1];
    const int64_t largest = (int64_t)labels->width * labels->height + 1;
    int32_t *first = calloc((size_t)largest + 1, sizeof *first), count = 0;

    for (int y = 0; first && y < labels->height; y++) {
        int32_t *row = image_row(labels, y);
        const uint8_t *mask = image_row(&in[0], y);
        for (int x = 0; x < labels->width; x++) {
            if (!mask[x])
                row[x] = 0;
            else if (row[x] > 0 && row[x] <= largest) {
                if (!first[row[x]])
                    first[row[x]] = params->consecutive ? ++count : y * labels->width + x + 1;
                row[x] = first[row[x]];
            }
        }
    }
    if (first && params->statistics) {
        int32_t *rows = image_row(table, 1);
        const int used = slot_table_rows(table);
        for (int i = 0; i < used; i++) {
            int32_t *label = image_row(table, 1 + i);
            if (*label > 0 && *label <= largest)
                *label = first[*label];
        }
        if (used > 0)
            qsort(rows, (size_t)used, table->stride, compare_rows);
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
    {
        /* Labels 1, 3 and 11; the table has room for two of the three. The first component is pixels (0,0), (0,1)
         * and (1,1): x_centroid = floor((256 * 1 + 1) / 3) = 85, y_centroid = floor((256 * 2 + 1) / 3) = 171. The
         * second is (2,0) and (3,0): 256 * 5 / 2 = 640 and half a pixel's rounding, floor((1280 + 1) / 2) = 640. */
        .name = "statistics of three components in a table for two",
        .settings = "connectivity=4 statistics=1 max_components=2",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){5, 0, 7, 7, /**/
                                 5, 5, 0, 0, /**/
                                 0, 0, 9, 9}},
        .out = {LABELS(1, 0, 3, 3, /**/
                       1, 1, 0, 0, /**/
                       0, 0, 11, 11),
                LABELS(3, 0, 0, 0, 0, 0, 0, 0,    /**/
                       1, 0, 0, 2, 2, 3, 85, 171, /**/
                       3, 2, 0, 2, 1, 2, 640, 0)},
    },
    {
        /* The same pixels: at connectivity 8 all three touch at corners. (2,2) and (3,2) touch (1,1). The sums are
         * x 1 + 5 + 5 = 11 and y 2 + 0 + 4 = 6 of 7 pixels: floor((2816 + 3) / 7) = 402, floor((1536 + 3) / 7) =
         * 219. */
        .name = "one component that corners join, numbered 1",
        .settings = "consecutive=1 statistics=1 max_components=2",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){5, 0, 7, 7, /**/
                                 5, 5, 0, 0, /**/
                                 0, 0, 9, 9}},
        .out = {LABELS(1, 0, 1, 1, /**/
                       1, 1, 0, 0, /**/
                       0, 0, 1, 1),
                LABELS(1, 0, 0, 0, 0, 0, 0, 0,     /**/
                       1, 0, 0, 4, 3, 7, 402, 219, /**/
                       0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {
        /* By first pixels in raster order, not by columns: the leftmost one begins a row later. */
        .name = "consecutive numbers",
        .settings = "consecutive=1",
        .width = 5,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 8, 0, /**/
                                 1, 0, 0, 0, 0, /**/
                                 0, 0, 6, 0, 3}},
        .out = {LABELS(0, 0, 0, 1, 0, /**/
                       2, 0, 0, 0, 0, /**/
                       0, 0, 3, 0, 4)},
    },
    {0},
};

static const char *const check_settings[] = {"connectivity=4", "consecutive=1", "statistics=1 max_components=50",
                                             "connectivity=4 consecutive=1 statistics=1", NULL};

static struct algorithm labelling = {
    .name = "labelling",
    .summary = "connected components of a mask, 8- or 4-connected; a label is the component's first raster index + 1",
    .inputs = {{.name = "mask", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "labels", .kind = SLOT_LABELS},
                {.name = "statistics", .kind = SLOT_TABLE, .columns = boxes_column_names}},
    .params_size = sizeof(struct labelling_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .hard_cases = hard_cases,
    .goldens = goldens,
    .bench_channels = 1,
    .make_inputs = make_inputs,
};

RUNGS_ALGORITHM(labelling)
