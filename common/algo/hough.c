#include "common/algo/hough.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/image/draw.h"

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const edge_words[] = {"nonzero", "sobel", NULL}, *const window_words[] = {"cross", NULL};
static const char *const output_words[] = {"lines", "accumulator", "both", NULL};

static const struct parameter parameters[] = {
    {.name = "theta_steps",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct hough_params, theta_steps),
     .minimum = 1,
     .maximum = 16384,
     .preset = 180,
     .check_maximum = 70,
     .help = "rows of the accumulator, of pi / theta_steps each"},
    {.name = "rho",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct hough_params, rho),
     .minimum = 0.1,
     .maximum = 16,
     .preset = 1,
     .help = "width of a cell in pixels"},
    {.name = "threshold",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct hough_params, threshold),
     .minimum = 1,
     .maximum = 1 << 24,
     .preset = 100,
     .help = "a line has more votes than this"},
    {.name = "window",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct hough_params, window),
     .minimum = 3,
     .maximum = HOUGH_MAX_WINDOW,
     .preset = HOUGH_CROSS,
     .words = window_words,
     .help = "a line has the most votes of its four neighbours, or of n x n cells, n odd, where theta wraps"},
    {.name = "edges",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct hough_params, edges),
     .preset = HOUGH_NONZERO,
     .words = edge_words,
     .help = "edge points: pixels that are not 0, or with large Sobel gradients"},
    {.name = "edge",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct hough_params, edge),
     .minimum = 0,
     .maximum = 2040,
     .preset = 150,
     .help = "with edges=sobel: an edge point has |gx| + |gy| above this"},
    {.name = "orientation",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct hough_params, orientation),
     .minimum = 0,
     .maximum = 90,
     .preset = 90,
     .help = "degrees from its gradient to which a point votes, 90: all; less needs edges=sobel"},
    {.name = "outputs",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct hough_params, outputs),
     .preset = HOUGH_LINES,
     .words = output_words,
     .help = "what to hand out"},
    {.name = "maximum",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct hough_params, maximum),
     .minimum = 1,
     .maximum = 1 << 20,
     .preset = 4096,
     .help = "rows of the table; of more lines those with most votes"},
    {0},
};

static enum status finish(void *params_erased)
{
    struct hough_params *params = params_erased;

    if (params->window != HOUGH_CROSS && params->window % 2 == 0)
        return status_set(STATUS_BAD_INPUT, "window=%d: a neighbourhood has an odd number of cells a side",
                          params->window);
    if (params->window > params->theta_steps)
        return status_set(STATUS_BAD_INPUT, "window=%d: with theta_steps=%d it would meet itself", params->window,
                          params->theta_steps);
    if (params->orientation < 90 && params->edges != HOUGH_SOBEL)
        return status_set(STATUS_BAD_INPUT, "orientation=%g needs gradients: edges=sobel", params->orientation);
    params->radius = params->window == HOUGH_CROSS ? 1 : params->window / 2;
    params->half_width = (int)lrint(params->orientation * params->theta_steps / 180);
    if (params->orientation >= 90 || 2 * params->half_width + 1 >= params->theta_steps)
        params->half_width = HOUGH_ALL_ROWS;
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct hough_params *p = params_erased;
    char window[16] = "cross";

    if (p->window != HOUGH_CROSS)
        snprintf(window, sizeof window, "%d", p->window);
    snprintf(text, size,
             "theta_steps=%d rho=%g threshold=%d window=%s edges=%s edge=%d orientation=%g outputs=%s maximum=%d",
             p->theta_steps, p->rho, p->threshold, window, edge_words[p->edges], p->edge, p->orientation,
             output_words[p->outputs], p->maximum);
}

/* --------------------------------------------------------------------------------------- space and tables */

struct hough_space hough_make_space(int width, int height, const struct hough_params *params)
{
    const double diagonal = hypot(width - 1, height - 1);
    const int cells = (int)lrintf((float)(2 * (width + height) + 1) / (float)params->rho);

    return (struct hough_space){.rows = params->theta_steps,
                                .cells = cells,
                                .centre = cells > 0 ? (cells - 1) / 2 : 0,
                                .reach = (int)lrint(diagonal / params->rho) + 1};
}

void hough_make_angles(const struct hough_params *params, struct hough_angle *angles)
{
    const float inverse = 1 / (float)params->rho, step = hough_step(params);
    float angle = 0;

    for (int n = 0; n < params->theta_steps; n++, angle += step)
        angles[n] = (struct hough_angle){(float)(cos((double)angle) * (double)inverse),
                                         (float)(sin((double)angle) * (double)inverse)};
}

void hough_make_directions(const struct hough_params *params, struct hough_direction *directions)
{
    directions[0] = (struct hough_direction){0, 0};
    for (int n = 1; n <= params->theta_steps; n++) {
        const double angle = (n - 0.5) * PI / params->theta_steps;
        directions[n] = (struct hough_direction){(int32_t)lrint(cos(angle) * HOUGH_DIRECTION_UNIT),
                                                 (int32_t)lrint(sin(angle) * HOUGH_DIRECTION_UNIT)};
    }
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct hough_params *params = params_erased;
    const struct hough_space space = hough_make_space(in->width, in->height, params);

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "hough takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "hough takes 1 channel (gray), not %d", in->channels);
    if (space.centre < space.reach)
        return status_set(STATUS_BAD_INPUT, "rho=%g is too coarse for %d x %d pixels", params->rho, in->width,
                          in->height);
    if ((int64_t)space.rows * space.cells > INT32_MAX)
        return status_set(STATUS_BAD_INPUT,
                          "theta_steps=%d and rho=%g make %d x %d cells of these %d x %d pixels, and "
                          "2^31 are too many",
                          params->theta_steps, params->rho, space.rows, space.cells, in->width, in->height);
    if (params->outputs != HOUGH_ACCUMULATOR)
        out[0] =
            (struct image){.width = HOUGH_COLUMNS, .height = params->maximum + 1, .channels = 1, .type = PIXEL_F32};
    if (params->outputs != HOUGH_LINES)
        out[1] = (struct image){.width = space.cells, .height = space.rows, .channels = 1, .type = PIXEL_I32};
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads each pixel and writes the outputs once. A point increments one counter for each row that it votes for. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct hough_params *params = params_erased;
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const int rows = params->half_width == HOUGH_ALL_ROWS ? params->theta_steps : 2 * params->half_width + 1;
    double points = 0.05 * in->width * in->height; /* an estimate, where the data are not at hand */

    if (out) {
        points = 0;
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++) {
                struct hough_gradient gradient;
                points += hough_is_point(in, x, y, params, &gradient);
            }
    }
    cost->bytes = (double)in->width * in->height;
    if (params->outputs != HOUGH_ACCUMULATOR)
        cost->bytes += 4.0 * HOUGH_COLUMNS * (params->maximum + 1);
    if (params->outputs != HOUGH_LINES)
        cost->bytes += 4.0 * space.rows * space.cells;
    cost->operations[OPERATION_COUNTER_INCREMENT] = points * rows;
}

/* -------------------------------------------------------------------------------------- shared by CPU versions */

enum status hough_append(struct hough_list *list, uint64_t key)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 1024;
        uint64_t *keys = realloc(list->keys, capacity * sizeof *keys);

        if (!keys)
            return status_set(STATUS_NO_MEMORY, "no memory for %zu lines", capacity);
        list->keys = keys;
        list->capacity = capacity;
    }
    list->keys[list->count++] = key;
    return STATUS_OK;
}

enum status hough_join(struct hough_list *lists, int count, struct hough_list *joined)
{
    enum status status = STATUS_OK;

    for (int k = 0; k < count; k++) {
        for (size_t i = 0; i < lists[k].count && status == STATUS_OK; i++)
            status = hough_append(joined, lists[k].keys[i]);
        free(lists[k].keys);
        lists[k] = (struct hough_list){0};
    }
    return status;
}

/* Counts the lines of each number of votes, so that a line's row is known from how many have more: a counting sort,
 * which leaves equal ones in the order that they came in. */
enum status hough_sort(struct hough_list *list)
{
    size_t most = 0, before = 0, *first = NULL;
    uint64_t *sorted = malloc((list->count + 1) * sizeof *sorted);
    enum status status = STATUS_OK;

    for (size_t i = 0; i < list->count; i++)
        most = list->keys[i] >> 32 > most ? list->keys[i] >> 32 : most;
    first = calloc(most + 1, sizeof *first);
    if (!first || !sorted) {
        status = status_set(STATUS_NO_MEMORY, "no memory to sort lines of up to %zu votes", most);
        free(sorted);
        goto out;
    }
    for (size_t i = 0; i < list->count; i++)
        first[list->keys[i] >> 32]++;
    for (size_t votes = most + 1; votes-- > 0;) {
        const size_t count = first[votes];
        first[votes] = before;
        before += count;
    }
    for (size_t i = 0; i < list->count; i++)
        sorted[first[list->keys[i] >> 32]++] = list->keys[i];
    free(list->keys);
    list->keys = sorted;
out:
    free(first);
    return status;
}

enum status hough_write_lines(struct hough_list *list, struct hough_space space, const struct hough_params *params,
                              struct image *lines)
{
    enum status status = STATUS_OK;

    TRY(hough_sort(list));
    image_fill(lines, 0);
    *(float *)lines->data = (float)list->count;
    for (size_t i = 0; i < list->count && i < (size_t)params->maximum; i++)
        hough_write_row(list->keys[i], space, hough_step(params), (float)params->rho, image_row(lines, (int)i + 1));
out:
    free(list->keys);
    *list = (struct hough_list){0};
    return status;
}

/* ------------------------------------------------------------------------------------------------- pictures */

const char *const hough_column_names[] = {"rho", "theta", "votes", NULL};

/* From where the normal meets the line, as far as the picture's sides are long, both ways. */
void hough_draw_line(struct image *image, double rho, double theta, const uint8_t *colour)
{
    const double c = cos(theta), s = sin(theta), far = 2.0 * (image->width + image->height);

    draw_line(image, rho * c - far * s, rho * s + far * c, rho * c + far * s, rho * s - far * c, colour);
}

/* The input with its strongest lines in red; without lines nothing but the accumulator is there to be seen. */
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

const char *hough_advise(const struct image *in, const struct hough_params *params)
{
    size_t points = 0;

    if (params->edges != HOUGH_NONZERO)
        return NULL;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            points += ((const uint8_t *)image_row(in, y))[x] != 0;
    return points > (size_t)in->width * (size_t)in->height / 2
               ? "more than half of the pixels are not 0 and count as edge points; for a photograph: -p edges=sobel"
               : NULL;
}

static const char *advise(const struct image in[], const void *params)
{
    return hough_advise(&in[0], params);
}

/* --------------------------------------------------------------------------------------------------- inputs */

enum status hough_keep_edges(struct image *in)
{
    enum { EDGE = 150 };
    struct image gray;
    enum status status = image_create_like(&gray, in);

    if (status != STATUS_OK)
        return status;
    image_copy(&gray, in);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const struct hough_gradient g = hough_sobel(&gray, x, y);
            ((uint8_t *)image_row(in, y))[x] = abs(g.x) + abs(g.y) > EDGE ? 255 : 0;
        }
    image_free(&gray);
    return STATUS_OK;
}

/* What hough is fed with: a photograph's edges, or on black noise and five lines across, one of them upright, one
 * level, one through two corners. With edges=sobel the photograph itself, or less noise, for each of its pixels makes
 * eight points. */
static void make_scene(struct image *in, uint64_t seed, int sparse)
{
    const int width = in->width, height = in->height;
    static const uint8_t white[3] = {255, 255, 255};

    for (int y = 0; y < height; y++) {
        uint8_t *row = image_row(in, y);
        for (int x = 0; x < width; x++)
            row[x] = pattern_random(&seed) % (uint64_t)sparse == 0 ? 255 : 0;
    }
    draw_line(in, width / 3, 0, width / 3, height - 1, white);
    draw_line(in, 0, height / 4, width - 1, height / 4, white);
    draw_line(in, 0, 0, width - 1, height - 1, white);
    draw_line(in, 0, height - 1, width / 2, 0, white);
    draw_line(in, width - 1, 0, width - 2, height - 1, white);
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    const struct hough_params *params = request->params;
    const char *hard = request->hard_case;
    enum status status = inputs_make_pictures(request, types, 1, in);

    if (status != STATUS_OK)
        return status;
    if (hard) {
        const int width = in->width, height = in->height;
        uint8_t *corner;

        image_fill(in, strcmp(hard, "full") == 0 ? 1 : 0);
        corner = image_row(in, height - 1);
        if (strcmp(hard, "point") == 0)
            corner[width - 1] = 255;
        for (int y = 0; y < height && strcmp(hard, "edge columns") == 0; y++) { /* lines where theta wraps */
            ((uint8_t *)image_row(in, y))[0] = 1;
            ((uint8_t *)image_row(in, y))[width - 1] = 1;
            ((uint8_t *)image_row(in, y))[width / 2 + (y > height / 2)] = 1;
        }
        for (int y = 0; y < height && strcmp(hard, "rings") == 0; y++) /* gradients of all directions */
            for (int x = 0; x < width; x++) {
                const int dx = x - width / 2, dy = y - height / 2;
                ((uint8_t *)image_row(in, y))[x] = (uint8_t)((dx * dx + dy * dy) / 16);
            }
    } else if (request->photograph && params->edges == HOUGH_NONZERO) {
        status = hough_keep_edges(in);
    } else if (!request->photograph && request->pattern == PATTERN_RANDOM) {
        make_scene(in, request->seed, params->edges == HOUGH_SOBEL ? 200 : 24);
    }
    if (status != STATUS_OK)
        image_free(in);
    return status;
}

static const int some_shapes[][3] = {{1, 1, 1}, {64, 48, 1}, {1, 300, 1}, {300, 1, 1}, {0}};
static const int few_shapes[][3] = {{37, 45, 1}, {1, 200, 1}, {2051, 3, 1}, {3, 2051, 1}, {0}};
static const int wide_shapes[][3] = {{65535, 2, 1}, {0}};
static const int flat_shapes[][3] = {{2051, 3, 1}, {0}};
static const int large_shapes[][3] = {{149, 137, 1}, {2049, 7, 1}, {0}};
static const int ring_shapes[][3] = {{149, 137, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {.name = "none", .shapes = some_shapes, .settings = "theta_steps=9"},
    {.name = "point", .shapes = some_shapes, .settings = "theta_steps=30 threshold=1 outputs=both"},
    {.name = "full", .shapes = few_shapes, .settings = "theta_steps=5 threshold=1 outputs=both window=3"},
    {.name = "full",
     .shapes = wide_shapes,
     .settings = "theta_steps=2 rho=2 outputs=both"}, /* both rows of pixels, in one counter: 16 bits overflow */
    {.name = "full",
     .shapes = flat_shapes,
     .settings = "theta_steps=7 rho=0.1 outputs=accumulator"}, /* cells up to 20510, where a fused sum shows */
    {.name = "edge columns", .shapes = large_shapes, .settings = "theta_steps=45 threshold=20 window=9"},
    {.name = "edge columns", .shapes = large_shapes, .settings = "theta_steps=31 threshold=20 outputs=both"},
    {.name = "edge columns",
     .shapes = large_shapes,
     .settings = "theta_steps=60 edges=sobel edge=1 orientation=5 threshold=10 window=5"},
    /* 45 and 135 degrees lie between two of 1002 rows. */
    {.name = "rings",
     .shapes = ring_shapes,
     .settings = "theta_steps=1002 edges=sobel edge=20 orientation=0 outputs=accumulator"},
    {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

#define FLOATS(...)                                                                                                    \
    (const uint8_t *)(const float[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define COUNTS(...)                                                                                                    \
    (const uint8_t *)(const int32_t[])                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct golden goldens[] = {
    {
        .name = "no edges",
        .settings = "theta_steps=2 threshold=1 outputs=both maximum=1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0), COUNTS(0, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0)},
    },
    {
        /* 13 cells, the centre is 6. Upright: all three points at x = 1, cell 7 of row 0. Row 1 counts by y. */
        .name = "an upright line",
        .settings = "theta_steps=2 threshold=1 outputs=both maximum=2",
        .width = 3,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 9, 0, /**/ 0, 9, 0, /**/ 0, 9, 0}},
        .out = {FLOATS(1, 0, 0, /**/ 1, 0, 3, /**/ 0, 0, 0),
                COUNTS(0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0)},
    },
    {
        /* 9 cells, the centre is 4: cells 4 and 5 of both rows get two votes, and of these four the first counts. */
        .name = "a plateau",
        .settings = "theta_steps=2 threshold=1 outputs=both maximum=2",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){1, 255, /**/ 2, 128}},
        .out = {FLOATS(1, 0, 0, /**/ 0, 0, 2, /**/ 0, 0, 0),
                COUNTS(0, 0, 0, 0, 2, 2, 0, 0, 0, /**/ 0, 0, 0, 0, 2, 2, 0, 0, 0)},
    },
    {
        /* 26 cells of half a pixel, the centre is 12: x = 1 is cell 14, and y = 1 cell 14 of row 1. */
        .name = "an upright line, cells of even number",
        .settings = "theta_steps=2 threshold=1 rho=0.5 maximum=1",
        .width = 3,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 9, 0, /**/ 0, 9, 0, /**/ 0, 9, 0}},
        .out = {FLOATS(1, 0, 0, /**/ 1, 0, 3)},
    },
    {
        /* Rows and columns of 4 pixels at y = 0 and x = 4: 4 votes and 4 votes, and the smaller index comes first:
         * theta 0. 19 cells, centre 9. Row 0: x = 0..3 one each, x = 4 four times. Row 1: y = 0 four times and once
         * more for the first point of the column: 5. */
        .name = "the order of lines",
        .settings = "theta_steps=2 threshold=3 maximum=2",
        .width = 5,
        .height = 4,
        .channels = 1,
        .in = {(const uint8_t[]){1, 1, 1, 1, 1, /**/ 0, 0, 0, 0, 1, /**/ 0, 0, 0, 0, 1, /**/ 0, 0, 0, 0, 1}},
        .out = {FLOATS(2, 0, 0, /**/ 0, 1.57079632679489661923F, 5, /**/ 4, 0, 4)},
    },
    {
        /* A column of 8 at x = 0 lies in the centre of all rows up to 4 degrees (7 sin 4 = 0.488), and of the last
         * four, which begin at 176 degrees. Without the wrap that is a plateau at each end. */
        .name = "a line at both ends",
        .settings = "threshold=7 maximum=3",
        .width = 1,
        .height = 8,
        .channels = 1,
        .in = {(const uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1}},
        .out = {FLOATS(2, 0, 0, /**/ 0, 0, 8, /**/ 0, 176 * 0.017453292519943295F, 8, /**/ 0, 0, 0)},
    },
    {
        .name = "the same, once, where theta wraps",
        .settings = "threshold=7 window=9 maximum=3",
        .width = 1,
        .height = 8,
        .channels = 1,
        .in = {(const uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1}},
        .out = {FLOATS(1, 0, 0, /**/ 0, 0, 8, /**/ 0, 0, 0, /**/ 0, 0, 0)},
    },
    {
        /* A step between columns 0 and 1, gx = 400: both are edge points, with bin 0 of 4, whose neighbours are rows 1
         * and 3; row 2 stays empty. 9 cells, centre 4. Row 1: (0 + 0) 4, (.7 + 0) 5, (0 + .7) 5, (.7 + .7) 5. Row 3:
         * -x/1.41 + y/1.41: 4, 3, 5, 4. */
        .name = "orientation",
        .settings = "theta_steps=4 edges=sobel orientation=45 outputs=accumulator",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){0, 100, /**/ 0, 100}},
        .out = {NULL, COUNTS(0, 0, 0, 0, 2, 2, 0, 0, 0, /**/ 0, 0, 0, 0, 1, 3, 0, 0, 0, /**/
                             0, 0, 0, 0, 0, 0, 0, 0, 0, /**/ 0, 0, 0, 1, 2, 1, 0, 0, 0)},
    },
    {0},
};

static const char *const check_settings[] = {
    "theta_steps=180 threshold=5",
    "threshold=9 rho=2 theta_steps=36",
    "threshold=4 theta_steps=91 maximum=20",
    "threshold=3 window=3 theta_steps=20",
    "threshold=1 window=7 theta_steps=45 rho=0.5 outputs=both",
    "threshold=5 window=31 theta_steps=31",
    "outputs=accumulator theta_steps=7",
    "threshold=3 theta_steps=1 outputs=both",
    "edges=sobel threshold=10 outputs=both theta_steps=30",
    "edges=sobel orientation=10 threshold=3 window=5 theta_steps=45",
    "edges=sobel orientation=20 threshold=3 theta_steps=1100", /* more than the largest block has threads */
    "edges=sobel orientation=0 threshold=2 theta_steps=64",
    "edges=sobel orientation=44.9 edge=300 threshold=2 theta_steps=16 outputs=both",
    NULL,
};

static struct algorithm hough = {
    .name = "hough",
    .summary = "straight lines by the Hough transform: rho, theta and votes, and the accumulator on request",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "lines",
                 .kind = SLOT_TABLE,
                 .help = "most votes first; rho in pixels, theta in radians",
                 .columns = hough_column_names,
                 .draw = draw_lines},
                {.name = "accumulator", .kind = SLOT_MATRIX, .help = "votes; a row a theta", .draw = draw_accumulator}},
    .params_size = sizeof(struct hough_params),
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

RUNGS_ALGORITHM(hough)
