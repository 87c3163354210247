#include "common/algo/harris.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/algo/harris/cases.h"
#include "common/image/draw.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const gradients[] = {"sobel", "central", NULL}, *const windows[] = {"none", "box", "gaussian", NULL};
static const char *const borders[] = {"reflect", "frame", NULL}, *const scales[] = {"opencv", "raw", NULL};
static const char *const output_words[] = {"both", "response", "corners", NULL};

static const struct parameter parameters[] = {
    {.name = "gradient",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct harris_params, gradient),
     .preset = HARRIS_SOBEL,
     .words = gradients,
     .help = "Sobel's 3x3 weights or central differences"},
    {.name = "window",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct harris_params, window),
     .preset = HARRIS_BOX,
     .words = windows,
     .help = "weights of the sums: the pixel alone, all 1, or binomial"},
    {.name = "size",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct harris_params, size),
     .minimum = 1,
     .maximum = HARRIS_MAX_SIZE,
     .preset = 3,
     .help = "side of the window in pixels; 3 or 5 for a Gaussian"},
    {.name = "k",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct harris_params, k),
     .minimum = 0,
     .maximum = 0.25,
     .preset = 0.04,
     .help = "share of the squared trace that is subtracted"},
    {.name = "border",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct harris_params, border),
     .preset = HARRIS_REFLECT,
     .words = borders,
     .help = "reflected, or a frame of 2 pixels whose response is 0"},
    {.name = "scale",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct harris_params, unit),
     .preset = 0,
     .words = scales,
     .help = "OpenCV's, or none"},
    {.name = "outputs",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct harris_params, outputs),
     .preset = HARRIS_BOTH,
     .words = output_words,
     .help = "what to compute and hand out"},
    {.name = "quality",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct harris_params, quality),
     .minimum = 0,
     .maximum = 1,
     .preset = 0.01,
     .help = "share of the largest response that a corner must exceed"},
    {.name = "radius",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct harris_params, radius),
     .minimum = 1,
     .maximum = HARRIS_MAX_RADIUS,
     .preset = 1,
     .help = "a corner is the largest within so many pixels"},
    {.name = "distance",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct harris_params, distance),
     .minimum = 0,
     .maximum = IMAGE_MAX_SIDE,
     .preset = 0,
     .help = "least distance between corners in pixels"},
    {.name = "maximum",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct harris_params, maximum),
     .minimum = 1,
     .maximum = IMAGE_MAX_SIDE - 1,
     .preset = 1000,
     .help = "most corners, the strongest"},
    {0},
};

static enum status finish(void *params_erased)
{
    static const int binomial[2][5] = {{1, 2, 1}, {1, 4, 6, 4, 1}};
    struct harris_params *params = params_erased;
    double sum = 0, unit;

    if (params->window == HARRIS_GAUSSIAN && params->size != 3 && params->size != 5)
        return status_set(STATUS_BAD_INPUT, "size=%d: a Gaussian window has 3 or 5 taps", params->size);
    if (params->window == HARRIS_NONE)
        params->size = 1;
    for (int i = 0; i < HARRIS_MAX_SIZE; i++) {
        params->taps[i] = i >= params->size ? 0 : params->window == HARRIS_GAUSSIAN ? binomial[params->size / 5][i] : 1;
        sum += params->taps[i];
    }
    unit = 255 * (params->gradient == HARRIS_SOBEL ? 4 : 2) * sum;
    params->scale = params->unit ? 1 : (float)(1 / (unit * unit * unit * unit));
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct harris_params *p = params_erased;

    snprintf(text, size,
             "gradient=%s window=%s size=%d k=%.10g border=%s scale=%s outputs=%s quality=%g radius=%d distance=%g "
             "maximum=%d",
             gradients[p->gradient], windows[p->window], p->size, p->k, borders[p->border], scales[p->unit],
             output_words[p->outputs], p->quality, p->radius, p->distance, p->maximum);
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct harris_params *params = params_erased;

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "harris takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "harris takes 1 channel (gray), not %d", in->channels);
    if (params->outputs != HARRIS_CORNERS)
        out[0] = (struct image){.width = in->width, .height = in->height, .channels = 1, .type = PIXEL_F32};
    if (params->outputs != HARRIS_RESPONSE)
        out[1] =
            (struct image){.width = HARRIS_COLUMNS, .height = params->maximum + 1, .channels = 1, .type = PIXEL_F32};
    return STATUS_OK;
}

static int radius(const void *params)
{
    return ((const struct harris_params *)params)->size / 2 + 1;
}

/* Reads each pixel once and writes what is asked for. Three products of gradients a pixel; det and t are two products
 * each, and k t a fifth. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct harris_params *params = params_erased;
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = pixels * (params->outputs == HARRIS_CORNERS ? 1 : 5);
    if (params->outputs != HARRIS_RESPONSE)
        cost->bytes += 4.0 * HARRIS_COLUMNS * (params->maximum + 1);
    cost->operations[OPERATION_MULTIPLY_ADD_16] = 3 * pixels;
    cost->operations[OPERATION_MULTIPLY_ADD_F64] = 4 * pixels;
}

/* -------------------------------------------------------------------------------------- shared by CPU versions */

enum status harris_open_response(const struct image *in, const struct image *out, struct image *scratch,
                                 struct image *response)
{
    enum status status = STATUS_OK;

    if (!out[0].data)
        TRY(image_create(scratch, in->width, in->height, 1, PIXEL_F32));
    *response = out[0].data ? out[0] : *scratch;
out:
    return status;
}

const char *harris_opencv_declines(const struct image in[], const void *params_erased)
{
    const struct harris_params *params = params_erased;

    (void)in;
    if (params->outputs != HARRIS_RESPONSE)
        return "cornerHarris gives the response alone (outputs=response)";
    if (params->gradient != HARRIS_SOBEL || params->window != HARRIS_BOX)
        return "cornerHarris has Sobel gradients and a box";
    if (params->border != HARRIS_REFLECT || params->unit)
        return "cornerHarris reflects, and has its own scale";
    return NULL;
}

const char *harris_skimage_declines(const struct image in[], const void *params_erased)
{
    const struct harris_params *params = params_erased;

    if (params->outputs != HARRIS_RESPONSE)
        return "corner_harris gives the response alone (outputs=response)";
    if (params->gradient != HARRIS_SOBEL || params->window != HARRIS_GAUSSIAN || params->size != 5)
        return "corner_harris has Sobel gradients and a Gaussian, which is like ours of 5 taps";
    if (params->border != HARRIS_REFLECT || params->unit)
        return "corner_harris has no frame and a scale of its own";
    if (in->width < 8 || in->height < 8)
        return "its border is another, and all of this picture is border";
    return NULL;
}

enum status harris_append(struct harris_list *list, uint64_t key)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        uint64_t *keys = realloc(list->keys, capacity * sizeof *keys);

        if (!keys)
            return status_set(STATUS_NO_MEMORY, "no memory for %zu corners", capacity);
        list->keys = keys;
        list->capacity = capacity;
    }
    list->keys[list->count++] = key;
    return STATUS_OK;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a > b ? -1 : a < b;
}

/* Brings the `wanted` largest of more keys to the front, in no order: Hoare's selection. */
static void select_keys(uint64_t *keys, size_t count, size_t wanted)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        const uint64_t pivot = keys[low + (high - low) / 2];
        size_t i = low - 1, j = high + 1;
        for (;;) {
            do
                i++;
            while (keys[i] > pivot);
            do
                j--;
            while (keys[j] < pivot);
            if (i >= j)
                break;
            const uint64_t key = keys[i];
            keys[i] = keys[j];
            keys[j] = key;
        }
        if (j + 1 >= wanted)
            high = j;
        if (j + 1 <= wanted)
            low = j + 1;
    }
}

/* Kept corners by cells of `side` pixels, at least the distance, so that only 3 x 3 cells are to be looked at; the
 * corners of a cell form a chain of indices + 1. */
struct grid {
    int side, columns, rows;
    int *first, *next;
};

static bool is_near(const struct grid *grid, const struct image *corners, const float *row, double distance)
{
    const int column = (int)row[0] / grid->side, line = (int)row[1] / grid->side;

    for (int v = line > 0 ? line - 1 : 0; v <= line + 1 && v < grid->rows; v++) {
        for (int u = column > 0 ? column - 1 : 0; u <= column + 1 && u < grid->columns; u++) {
            for (int i = grid->first[v * grid->columns + u]; i; i = grid->next[i]) {
                const float *other = image_row(corners, i);
                const double dx = (double)other[0] - row[0], dy = (double)other[1] - row[1];
                if (dx * dx + dy * dy < distance * distance)
                    return true;
            }
        }
    }
    return false;
}

enum status harris_write_corners(struct harris_list *list, const struct harris_params *params, int width,
                                 struct image *corners)
{
    const int side = params->distance > 1 ? (int)ceil(params->distance) : 0; /* pixels are 1 apart as it is */
    struct grid grid = {.side = side};
    size_t kept = 0;
    enum status status = STATUS_OK;

    image_fill(corners, 0);
    if (!side && list->count > (size_t)params->maximum) {
        select_keys(list->keys, list->count, (size_t)params->maximum);
        list->count = (size_t)params->maximum;
    }
    if (list->count > 1)
        qsort(list->keys, list->count, sizeof *list->keys, compare_keys);
    if (side && list->count) {
        uint32_t last = 0;
        for (size_t i = 0; i < list->count; i++) {
            const uint32_t index = ~(uint32_t)list->keys[i];
            last = index > last ? index : last;
        }
        grid.columns = width / side + 1;
        grid.rows = (int)(last / (uint32_t)width) / side + 1;
        grid.first = calloc((size_t)grid.columns * (size_t)grid.rows, sizeof *grid.first);
        grid.next = calloc((size_t)params->maximum + 1, sizeof *grid.next);
        if (!grid.first || !grid.next) {
            status = status_set(STATUS_NO_MEMORY, "no memory to keep corners apart");
            goto out;
        }
    }
    for (size_t i = 0; i < list->count && kept < (size_t)params->maximum; i++) {
        float *row = image_row(corners, (int)kept + 1);

        harris_write_row(list->keys[i], width, row);
        if (side && is_near(&grid, corners, row, params->distance)) {
            row[0] = row[1] = row[2] = 0;
            continue;
        }
        kept++;
        if (side) {
            int *first = &grid.first[(int)row[1] / side * grid.columns + (int)row[0] / side];
            grid.next[kept] = *first;
            *first = (int)kept;
        }
    }
    *(float *)image_row(corners, 0) = (float)kept;
out:
    free(grid.first);
    free(grid.next);
    free(list->keys);
    *list = (struct harris_list){0};
    return status;
}

/* ------------------------------------------------------------------------------------------------- pictures */

const char *const harris_column_names[] = {"x", "y", "response", NULL};

/* The input with a red cross on each corner; without corners the response, 0 in the middle of the scale, its root, so
 * that weak ones can be seen. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    enum { ARM = 3 };
    static const uint8_t red[3] = {255, 0, 0};
    float largest = 0;
    enum status status = STATUS_OK;

    (void)params;
    TRY(draw_canvas(picture, in));
    for (int y = 0; out[0].data && y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            largest = fmaxf(largest, fabsf(((const float *)image_row(&out[0], y))[x]));
    for (int y = 0; y < in->height && !out[1].data && out[0].data; y++) {
        const float *response = image_row(&out[0], y);
        uint8_t *to = image_row(picture, y);
        for (int x = 0; x < in->width; x++, to += 3) {
            const float root = largest > 0 ? copysignf(sqrtf(fabsf(response[x]) / largest), response[x]) : 0;
            to[0] = to[1] = to[2] = (uint8_t)(127.5f + 127.5f * root);
        }
    }
    for (int i = 1; out[1].data && i <= slot_table_rows(&out[1]); i++) {
        const float *row = image_row(&out[1], i);
        draw_cross(picture, (int)row[0], (int)row[1], ARM, red);
    }
out:
    return status;
}

static struct algorithm harris = {
    .name = "harris",
    .summary = "Harris corners, u8 gray: response of every pixel and the strongest corners as a table",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "response",
                 .kind = SLOT_PICTURE,
                 .help = "Harris response",
                 .comparison = {.relative = true},
                 .draw = draw},
                {.name = "corners",
                 .kind = SLOT_TABLE,
                 .help = "strongest first; x and y in pixels",
                 .columns = harris_column_names,
                 .draw = draw}},
    .params_size = sizeof(struct harris_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .make_inputs = harris_make_inputs,
    .hard_cases = harris_hard_cases,
    .check_settings = harris_check_settings,
    .check_channels = (const int[]){1, 0},
    .goldens = harris_goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(harris)
