#include "common/algo/lines.h"

#include <stdio.h>
#include <string.h>

#include "common/algo/edges.h"
#include "common/algo/hough.h"
#include "common/contract/inputs.h"
#include "common/image/draw.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const detectors[] = {"hough", "pclines", NULL}, *const thin_words[] = {"none", "canny", NULL};
static const char *const low_words[] = {"none", NULL}, *const window_words[] = {"cross", NULL};

static const struct parameter parameters[] = {
    {.name = "detector",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct lines_params, detector),
     .preset = LINES_HOUGH,
     .words = detectors,
     .help = "theta and rho, or parallel coordinates"},
    {.name = "high",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, high),
     .minimum = 0,
     .maximum = 2040,
     .preset = 400,
     .help = "of edges: a strong pixel has |gx| + |gy| above this"},
    {.name = "low",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, low),
     .minimum = 0,
     .maximum = 2040,
     .preset = 200,
     .words = low_words,
     .help = "of edges: a weak pixel above this counts where weak ones join it to a strong one"},
    {.name = "thin",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct lines_params, thin),
     .preset = EDGES_CANNY,
     .words = thin_words,
     .help = "of edges: canny keeps the largest across the edge alone"},
    {.name = "theta_steps",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, theta_steps),
     .minimum = 1,
     .maximum = 16384,
     .preset = 180,
     .check_maximum = 70,
     .help = "of hough: rows of the accumulator"},
    {.name = "d",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, d),
     .minimum = 16,
     .maximum = 4096,
     .preset = 512,
     .check_maximum = 64,
     .help = "of pclines: rows of each space, a power of two"},
    {.name = "threshold",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, threshold),
     .minimum = 1,
     .maximum = 1 << 24,
     .preset = 100,
     .help = "a line has more votes than this"},
    {.name = "window",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, window),
     .minimum = 3,
     .maximum = HOUGH_MAX_WINDOW,
     .preset = HOUGH_CROSS,
     .words = window_words,
     .help = "a line has the most votes of its four neighbours, or of n x n cells, n odd; pclines takes 9 for cross"},
    {.name = "maximum",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lines_params, maximum),
     .minimum = 1,
     .maximum = 1 << 20,
     .preset = 1024,
     .help = "rows of the table; of more lines those with most votes"},
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
    const struct lines_params *p = params_erased;
    char low[16], window[16], resolution[32];

    word_or_number(low, sizeof low, low_words[0], p->low);
    word_or_number(window, sizeof window, window_words[0], p->window);
    snprintf(resolution, sizeof resolution, p->detector == LINES_HOUGH ? "theta_steps=%d" : "d=%d",
             p->detector == LINES_HOUGH ? p->theta_steps : p->d);
    snprintf(text, size, "detector=%s high=%d low=%s thin=%s %s threshold=%d window=%s maximum=%d",
             detectors[p->detector], p->high, low, thin_words[p->thin], resolution, p->threshold, window, p->maximum);
}

/* --------------------------------------------------------------------------------------------------- steps */

static const char *algorithm_of(const struct lines_params *params, int step)
{
    return step == LINES_GRAYSCALE ? "grayscale" : step == LINES_EDGES ? "edges" : detectors[params->detector];
}

static void settings_of(const struct lines_params *p, int step, char *text, size_t size)
{
    char word[16];

    text[0] = '\0';
    if (step == LINES_EDGES) {
        word_or_number(word, sizeof word, low_words[0], p->low);
        snprintf(text, size, "high=%d low=%s thin=%s", p->high, word, thin_words[p->thin]);
    } else if (step == LINES_DETECTOR && p->detector == LINES_HOUGH) {
        word_or_number(word, sizeof word, window_words[0], p->window);
        snprintf(text, size, "theta_steps=%d threshold=%d window=%s maximum=%d", p->theta_steps, p->threshold, word,
                 p->maximum);
    } else if (step == LINES_DETECTOR) {
        snprintf(text, size, "d=%d threshold=%d window=%d maximum=%d", p->d, p->threshold,
                 p->window == HOUGH_CROSS ? 9 : p->window, p->maximum);
    }
}

enum status lines_steps_open(struct step steps[LINES_STEPS], const struct lines_params *params,
                             const struct lines_ids *ids)
{
    const char *versions[LINES_STEPS] = {ids->grayscale, ids->edges,
                                         params->detector == LINES_HOUGH ? ids->hough : ids->pclines};
    char settings[128];
    enum status status = STATUS_OK;

    for (int step = 0; step < LINES_STEPS; step++) {
        const char *algorithm = algorithm_of(params, step);
        settings_of(params, step, settings, sizeof settings);
        TRY(step_open(&steps[step], algorithm, algorithm, versions[step], settings));
    }
out:
    if (status != STATUS_OK)
        lines_steps_close(steps);
    return status;
}

void lines_steps_close(struct step steps[LINES_STEPS])
{
    for (int step = 0; step < LINES_STEPS; step++)
        step_close(&steps[step]);
}

enum status lines_make_shapes(const struct step steps[LINES_STEPS], const struct image *frame,
                              struct lines_shapes *shapes)
{
    struct image several[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    TRY(step_shape(&steps[LINES_GRAYSCALE], frame, several));
    shapes->gray = several[0];
    TRY(step_shape(&steps[LINES_EDGES], &shapes->gray, several));
    shapes->mask = several[0];
    TRY(step_shape(&steps[LINES_DETECTOR], &shapes->mask, several));
    shapes->table = several[0];
out:
    return status;
}

void lines_write(const struct image *table, struct image *result)
{
    for (int y = 0; y < result->height; y++)
        memcpy(image_row(result, y), image_row(table, y), LINES_COLUMNS * sizeof(float));
}

/* Lets the contracts of the steps judge their settings. */
static enum status finish(void *params_erased)
{
    const struct lines_params *params = params_erased;
    enum status status = STATUS_OK;

    for (int step = 0; step < LINES_STEPS; step++) {
        const struct algorithm *algorithm = registry_find_algorithm(algorithm_of(params, step));
        char settings[128];
        double scratch[64];

        if (!algorithm || algorithm->params_size > sizeof scratch)
            return status_set(STATUS_FAILED, "lines: there is no algorithm %s", algorithm_of(params, step));
        settings_of(params, step, settings, sizeof settings);
        TRY(params_parse_text(algorithm, settings, scratch));
    }
out:
    return status;
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct lines_params *params = params_erased;
    struct image gray = in[1], table[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct algorithm *detector = registry_find_algorithm(detectors[params->detector]);
    char settings[128];
    double scratch[64];
    enum status status = STATUS_OK;

    for (int i = 0; i < 2; i++) {
        if (in[i].type != PIXEL_U8)
            return status_set(STATUS_BAD_INPUT, "lines takes u8 samples, not %s", pixel_name(in[i].type));
        if (in[i].channels != 3)
            return status_set(STATUS_BAD_INPUT, "lines takes 3 channels (RGB), not %d", in[i].channels);
    }
    if (!image_same_shape(&in[0], &in[1]))
        return status_set(STATUS_BAD_INPUT, "lines takes two frames of the same size, not %dx%d and %dx%d", in[0].width,
                          in[0].height, in[1].width, in[1].height);
    gray.channels = 1;
    settings_of(params, LINES_DETECTOR, settings, sizeof settings);
    TRY(params_parse_text(detector, settings, scratch));
    TRY(detector->shape(&gray, scratch, table));
    *out = (struct image){.width = LINES_COLUMNS, .height = params->maximum + 1, .channels = 1, .type = PIXEL_F32};
out:
    return status;
}

/* Sobel, thinning; hysteresis and lines have no end. */
static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads a frame once and writes the table; an estimate of the votes, for points are known to the steps alone. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct lines_params *params = params_erased;
    const double pixels = (double)in->width * in->height;
    const int rows = params->detector == LINES_HOUGH ? params->theta_steps : 2 * params->d;

    (void)out;
    cost->bytes = 3 * pixels + 4.0 * LINES_COLUMNS * (params->maximum + 1);
    cost->operations[OPERATION_COUNTER_INCREMENT] = 0.02 * pixels * rows;
}

/* ------------------------------------------------------------------------------------------------- pictures */

/* The frame with its strongest lines in red. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    enum { STRONGEST = 50 };
    static const uint8_t red[3] = {255, 0, 0};
    enum status status = draw_canvas(picture, &in[1]);
    const int count = slot_table_rows(&out[0]);

    (void)params;
    for (int i = 1; status == STATUS_OK && i <= count && i <= STRONGEST; i++) {
        const float *row = image_row(&out[0], i);
        hough_draw_line(picture, (double)row[0], (double)row[1], red);
    }
    return status;
}

/* Frames of a camera have edges; a pattern without any gets bars across, upright, level and aslant. The first frame is
 * the same one, turned over: whoever looks at it is wrong. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8, PIXEL_U8};
    const uint8_t bars[2][3] = {{255, 255, 255}, {0, 64, 128}};
    enum status status = inputs_make_pictures(request, types, 2, in);
    const int width = request->width, height = request->height;

    if (status != STATUS_OK || request->photograph)
        return status;
    if (request->pattern == PATTERN_RANDOM)
        image_fill(&in[1], 90);
    for (int i = 0; i < 3 && request->pattern == PATTERN_RANDOM; i++) {
        draw_line(&in[1], width / 3 + i, 0, width / 3 + i, height - 1, bars[0]);
        draw_line(&in[1], 0, height / 4 + i, width - 1, height / 4 + i, bars[1]);
        draw_line(&in[1], i, 0, width - 1, height - 1, bars[0]);
        draw_line(&in[1], i, height - 1, width / 2, 0, bars[1]);
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < 3 * width; x++)
            ((uint8_t *)image_row(&in[0], y))[x] = (uint8_t) ~((const uint8_t *)image_row(&in[1], y))[x];
    return status;
}

/* -------------------------------------------------------------------------- answers worked out by hand */

#define FLOATS(...)                                                                                                    \
    (const uint8_t *)(const float[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define K 0, 0, 0
#define W 255, 255, 255

static const struct golden goldens[] = {
    {
        .name = "one gray",
        .settings = "threshold=1 maximum=1",
        .width = 2,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){W, K}, (const uint8_t[]){W, W}},
        .out = {FLOATS(0, 0, 0, /**/ 0, 0, 0)},
    },
    {
        /* A step between columns 1 and 2, gx = 4 * 255 on both sides; thinning keeps the left one: x = 1 three times,
         * and once each y = 0, 1, 2 at 90 degrees. */
        .name = "a step",
        .settings = "low=none theta_steps=2 threshold=2 maximum=2",
        .width = 4,
        .height = 3,
        .channels = 3,
        .in = {(const uint8_t[]){K, K, K, K, /**/ K, K, K, K, /**/ K, K, K, K},
               (const uint8_t[]){K, K, W, W, /**/ K, K, W, W, /**/ K, K, W, W}},
        .out = {FLOATS(1, 0, 0, /**/ 1, 0, 3, /**/ 0, 0, 0)},
    },
    {0},
};

static const char *const check_settings[] = {
    "high=40 low=20 threshold=4 theta_steps=45",
    "threshold=12 window=5 theta_steps=60 low=none maximum=30",
    "detector=pclines d=32 high=40 low=10 threshold=5",
    "detector=pclines d=16 threshold=9 window=5 thin=none low=none maximum=50",
    NULL,
};

static const char *const column_names[] = {"rho", "theta", "votes", NULL};

static struct algorithm lines = {
    .name = "lines",
    .summary = "straight lines in each frame of a video: gray, edges, theta-rho or parallel coordinates",
    .inputs = {{.name = "first", .kind = SLOT_PICTURE, .type = PIXEL_U8},
               {.name = "frame", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "lines",
                 .kind = SLOT_TABLE,
                 .help = "most votes first; rho in pixels, theta in radians",
                 .columns = column_names,
                 .draw = draw}},
    .params_size = sizeof(struct lines_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .make_inputs = make_inputs,
    .inputs_stay_in_place = true,
    .check_settings = check_settings,
    .check_channels = (const int[]){3, 0},
    .goldens = goldens,
    .bench_channels = 3,
    .video = true,
};

RUNGS_ALGORITHM(lines)
