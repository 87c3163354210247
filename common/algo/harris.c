#include "common/algo/harris.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"

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
             "gradient=%s window=%s size=%d k=%g border=%s scale=%s outputs=%s quality=%g radius=%d distance=%g "
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

/* Kept corners by cells of `side` pixels, at least the distance, so that only 3 x 3 cells are to be looked at; the corners
 * of a cell form a chain of indices + 1. */
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

/* The input in gray with a red cross on each corner; without corners the response, 0 in the middle of the scale, its
 * root, so that weak ones can be seen. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    enum { ARM = 3 };
    float largest = 0;
    enum status status = STATUS_OK;

    (void)params;
    TRY(image_create(picture, in->width, in->height, 3, PIXEL_U8));
    for (int y = 0; out[0].data && y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            largest = fmaxf(largest, fabsf(((const float *)image_row(&out[0], y))[x]));
    for (int y = 0; y < in->height; y++) {
        uint8_t *to = image_row(picture, y);
        for (int x = 0; x < in->width; x++) {
            uint8_t gray = ((const uint8_t *)image_row(in, y))[x];
            if (!out[1].data && out[0].data) {
                const float r = ((const float *)image_row(&out[0], y))[x];
                gray = (uint8_t)(largest > 0 ? 127.5f + copysignf(127.5f, r) * sqrtf(fabsf(r) / largest) : 127);
            }
            to[3 * x] = to[3 * x + 1] = to[3 * x + 2] = gray;
        }
    }
    for (int i = 1; out[1].data && i <= slot_table_rows(&out[1]); i++) {
        const float *row = image_row(&out[1], i);
        for (int arm = -ARM; arm <= ARM; arm++)
            for (int along = 0; along < 2; along++) {
                const int x = (int)row[0] + (along ? arm : 0), y = (int)row[1] + (along ? 0 : arm);
                if (x < 0 || y < 0 || x >= in->width || y >= in->height)
                    continue;
                uint8_t *to = (uint8_t *)image_row(picture, y) + 3 * x;
                to[0] = 255;
                to[1] = to[2] = 0;
            }
    }
out:
    return status;
}

/* --------------------------------------------------------------------------------------------------- inputs */

/* steep: stripes two pixels wide, black and white, along both diagonals of 2 x 2 cells: the largest gradients that there
 * are. tiles: squares of 8 x 8, whose corners all have the same responses, in plateaus. dots: single pixels of one of two
 * values, so that strengths tie and corners lie near each other. last: faint ones, and in the last eighth of the rows strong
 * ones, which alone decide what is strong enough. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    uint64_t state = request->seed;
    enum status status = inputs_make_pictures(request, types, 1, in);

    for (int y = 0; status == STATUS_OK && request->hard_case && y < in->height; y++) {
        uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++) {
            const bool odd = strcmp(request->hard_case, "steep") == 0   ? (x + (y / 64 % 2 ? y : -y + 65536)) / 2 % 2
                             : strcmp(request->hard_case, "tiles") == 0 ? (x / 8 + y / 8) % 2
                                                                        : pattern_random(&state) % 64 == 0;
            row[x] = !odd                                      ? 0
                     : strcmp(request->hard_case, "dots") == 0 ? (uint8_t)(200 + 55 * (x / 4 % 2))
                     : strcmp(request->hard_case, "last") == 0 && y < in->height - in->height / 8 ? 40
                                                                                                  : 255;
        }
    }
    return status;
}

static const int hard_shapes[][3] = {{64, 48, 1}, {2051, 9, 1}, {9, 2051, 1}, {0}};
static const int small_shapes[][3] = {{64, 48, 1}, {0}};
static const int tall_shapes[][3] = {{7, 4099, 1}, {0}};
static const int large_shapes[][3] = {{97, 89, 1}, {301, 277, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {"steep", small_shapes, "window=box size=31 scale=raw"},
    {"steep", hard_shapes, NULL},
    {"tiles", hard_shapes, "maximum=20"},
    {"tiles", large_shapes, "radius=4 distance=12.5"},
    {"dots", large_shapes, NULL},
    {"last", tall_shapes, "outputs=corners"},
    {"dots", large_shapes, "gradient=central distance=9 maximum=65534 outputs=corners"},
    {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand
 * A pixel of value 1 at (2, 2) on black: around it gx is 1 2 1 to the left and -1 -2 -1 to the right, gy 1 2 1 above and
 * -1 -2 -1 below, so gx^2, gy^2 and gx gy are
 *
 *     1 0 1     1 4 1     1 0 -1
 *     4 0 4     0 0 0     0 0  0
 *     1 0 1     1 4 1    -1 0  1
 */

#define FLOATS(...)                                                                                                    \
    (const uint8_t *)(const float[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const uint8_t dot[] = {0, 0, 0, 0, 0, /**/
                              0, 0, 0, 0, 0, /**/
                              0, 0, 1, 0, 0, /**/
                              0, 0, 0, 0, 0, /**/
                              0, 0, 0, 0, 0};

static const struct golden goldens[] = {
    {
        .name = "1x1",
        .settings = "maximum=1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){200}},
        .out = {FLOATS(0), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        /* Left and right of a pixel stands the same one, reflected: all gradients are 0. */
        .name = "2x2",
        .settings = "maximum=1",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){0, 255, 255, 255}},
        .out = {FLOATS(0, 0, 0, 0), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        /* Above and below stands the row itself: gy, b and c are 0, det is 0, and the response -a^2 / 8. gx is 4 times
         * 0 9 9 -9 0, so gx^2 is 0 or 1296; of three rows alike the window adds up 2, 2, 3, 2 and 2 that are not 0, for
         * the first and the last column see their neighbour twice: a is 7776 and 11664. */
        .name = "a row of five",
        .settings = "k=0.125 scale=raw maximum=1",
        .width = 5,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){1, 1, 10, 10, 1}},
        .out = {FLOATS(-7558272, -7558272, -17006112, -7558272, -7558272), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        .name = "constant",
        .settings = "quality=0 maximum=1",
        .width = 5,
        .height = 4,
        .channels = 1,
        .in = {(const uint8_t[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        /* At (2,2) a = c = 12, b = 0: 144 - 24^2 / 8 = 72. At (2,1) a = 10, c = 6, b = 0: 60 - 16^2 / 8 = 28. At (1,1)
         * a = c = 5, b = 1: 24 - 10^2 / 8 = 11.5. The products are reflected: row -1 is row 1, which counts twice for
         * row 0. At (2,0) a = 4, c = 12, b = 0: 48 - 32 = 16. At (1,0) a = 2, c = 10, b = 2: 16 - 18 = -2. At (0,0)
         * only (1,1), four times: a = b = c = 4: 0 - 8 = -8. */
        .name = "a dot, box of 3",
        .settings = "k=0.125 scale=raw maximum=2",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {dot},
        .out = {FLOATS(-8, -2, 16, -2, -8,     /**/
                       -2, 11.5, 28, 11.5, -2, /**/
                       16, 28, 72, 28, 16,     /**/
                       -2, 11.5, 28, 11.5, -2, /**/
                       -8, -2, 16, -2, -8),
                FLOATS(1, 0, 0, 2, 2, 72, 0, 0, 0)},
    },
    {
        /* Weights 1 2 1: at (2,2) a = c = 4 + 16 = 20, b = 0: 400 - 40^2 / 8 = 200. At (2,1) a = 12, c = 20: 240 - 128.
         * At (1,1) a = c = 12, b = 4: 128 - 72 = 56. At (2,0) a = 4, c = 20: 80 - 72 = 8. At (1,0) a = 4, c = 12, b = 4:
         * 32 - 32 = 0. At (0,0) a = b = c = 4: -8. */
        .name = "a dot, Gaussian of 3",
        .settings = "window=gaussian k=0.125 scale=raw maximum=1",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {dot},
        .out = {FLOATS(-8, 0, 8, 0, -8,     /**/
                       0, 56, 112, 56, 0,   /**/
                       8, 112, 200, 112, 8, /**/
                       0, 56, 112, 56, 0,   /**/
                       -8, 0, 8, 0, -8),
                FLOATS(1, 0, 0, 2, 2, 200)},
    },
    {
        /* A box of 2 lies up and to the left. Row 0, column 0: the corner (1,1) only, reflected from -1: a = b = c = 1,
         * -4/8. At (2,2) (1,1), (2,1), (1,2) and (2,2): a = c = 5, b = 1: 24 - 12.5 = 11.5; at (3,3) likewise. At (3,2)
         * (2,1), (3,1), (2,2), (3,2): a = 5, c = 5, b = -1. At (1,1) (1,1): -0.5. At (2,1) (1,1) and (2,1): a = 1, c = 5,
         * b = 1: 4 - 4.5 = -0.5. At (4,1) (3,1): a = c = 1, b = -1. At (4,2) (3,1) and (3,2): a = 5, c = 1, b = -1. At
         * (4,4): (3,3): a = b = c = 1. At (0,1): column -1 is column 1, (1,1) counts once, column 0 is 0. All others by
         * symmetry, and at (0,2) (1,1) and (1,2): a = 5, b = c = 1: 4 - 4.5. */
        .name = "a dot, box of 2",
        .settings = "size=2 k=0.125 scale=raw outputs=response",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {dot},
        .out = {FLOATS(-0.5, -0.5, -0.5, -0.5, -0.5, /**/
                       -0.5, -0.5, -0.5, -0.5, -0.5, /**/
                       -0.5, -0.5, 11.5, 11.5, -0.5, /**/
                       -0.5, -0.5, 11.5, 11.5, -0.5, /**/
                       -0.5, -0.5, -0.5, -0.5, -0.5)},
    },
    {
        /* The document's response at (2,2): dx = 9 - 7 = 2, dy = 5 - 1 = 4, (4 + 16)^2 / 4 = 100. */
        .name = "central differences, no window, frame",
        .settings = "gradient=central window=none border=frame scale=raw k=0.25 maximum=1",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){9, 9, 9, 9, 9, /**/
                                 9, 9, 1, 9, 9, /**/
                                 9, 7, 8, 9, 9, /**/
                                 9, 9, 5, 9, 9, /**/
                                 9, 9, 9, 9, 9}},
        .out = {FLOATS(0, 0, 0, 0, 0,   /**/
                       0, 0, 0, 0, 0,   /**/
                       0, 0, 100, 0, 0, /**/
                       0, 0, 0, 0, 0,   /**/
                       0, 0, 0, 0, 0),
                FLOATS(1, 0, 0, 2, 2, 100)},
    },
    {
        /* Three dots of equal strength, each as above; those 6 apart are nearer than 7. */
        .name = "equal corners, and too near ones",
        .settings = "k=0.125 scale=raw outputs=corners distance=7 maximum=3",
        .width = 21,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        .out = {NULL, FLOATS(2, 0, 0, 2, 2, 72, 17, 2, 72, 0, 0, 0)},
    },
    {0},
};

static const char *const check_settings[] = {
    "size=1",
    "size=2",
    "size=4 scale=raw",
    "size=5 k=0.06",
    "size=7 outputs=response",
    "size=8 outputs=corners",
    "size=31",
    "window=gaussian k=0",
    "window=gaussian size=5 radius=3",
    "window=none",
    "gradient=central",
    "gradient=central window=gaussian size=5 outputs=response",
    "gradient=central window=none border=frame scale=raw",
    "border=frame",
    "window=gaussian size=5 outputs=response",
    "outputs=response",
    "outputs=corners maximum=10",
    "quality=0 maximum=3000",
    "quality=1",
    "radius=15",
    "distance=10 quality=0.2",
    "radius=2 distance=3.7 maximum=40",
    NULL,
};

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
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .goldens = goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(harris)
