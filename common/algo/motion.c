#include "common/algo/motion.h"

#include <stdio.h>
#include <string.h>

#include "common/algo/blur.h"
#include "common/algo/morphology.h"
#include "common/algo/otsu.h"
#include "common/contract/inputs.h"
#include "common/image/draw.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const value_words[] = {"otsu", NULL};
static const char *const shapes[] = {"disk", "square", NULL};
static const char *const ops[] = {"close", "close_open", NULL};
static const char *const background_words[] = {"first", NULL};
static const char *const version_words[] = {"own", NULL}; /* the pipeline's own rung */

#define STEP_PARAMETER(word, step, what)                                                                               \
    {                                                                                                                  \
        .name = word, .kind = PARAMETER_TEXT, .offset = offsetof(struct motion_params, versions[step]),                \
        .words = version_words, .help = "version that takes the place of " what "", .swaps_step = true                 \
    }

static const struct parameter parameters[] = {
    {.name = "value",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, value),
     .minimum = 0,
     .maximum = 255,
     .preset = 25,
     .words = value_words,
     .help = "largest difference that counts as background, in gray levels, or otsu: found in each frame"},
    {.name = "ksize",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, ksize),
     .minimum = 3,
     .maximum = BLUR_MAX_KSIZE,
     .preset = 15,
     .help = "side of the blur's kernel in pixels, odd"},
    {.name = "sigma",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct motion_params, sigma),
     .minimum = 0,
     .maximum = 100,
     .preset = 0,
     .help = "of the blur in pixels; 0 derives it from ksize"},
    {.name = "ops",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct motion_params, ops),
     .maximum = MOTION_OPS_CLOSE_OPEN,
     .preset = MOTION_OPS_CLOSE_OPEN,
     .words = ops,
     .help = "morphology of the mask: a closing alone, or an opening behind it"},
    {.name = "shape",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct motion_params, shape),
     .maximum = MORPHOLOGY_SQUARE,
     .preset = MORPHOLOGY_DISK,
     .words = shapes,
     .help = "of the structuring element of close and open"},
    {.name = "disk",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, disk),
     .minimum = 3,
     .maximum = MORPHOLOGY_MAX_KSIZE,
     .preset = 15,
     .help = "side or diameter of the structuring element in pixels, odd"},
    {.name = "connectivity",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, connectivity),
     .minimum = 4,
     .maximum = 8,
     .preset = 8,
     .help = "8 or 4: whether pixels that touch at a corner belong together"},
    {.name = "min_area",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, min_area),
     .minimum = 1,
     .maximum = 2147483647,
     .preset = 1,
     .help = "pixels that a component must have to get a box"},
    {.name = "max_boxes",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, max_boxes),
     .minimum = 1,
     .maximum = 65534,
     .preset = 255,
     .help = "rows of the table; more components than that are counted, but not listed"},
    {.name = "background",
     .kind = PARAMETER_TEXT,
     .offset = offsetof(struct motion_params, background),
     .words = background_words,
     .help = "first frame, mean (running), or a picture's path"},
    {.name = "rate",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct motion_params, rate),
     .minimum = 1,
     .maximum = 8,
     .preset = 5,
     .help = "of background=mean: each frame moves it by 2^-rate of the difference"},
    STEP_PARAMETER("grayscale", MOTION_GRAYSCALE, "the grayscale step"),
    STEP_PARAMETER("blur", MOTION_BLUR, "the blur step"),
    STEP_PARAMETER("absdiff", MOTION_ABSDIFF, "the absdiff step"),
    STEP_PARAMETER("threshold", MOTION_THRESHOLD, "the threshold step"),
    STEP_PARAMETER("morphology", MOTION_CLOSE, "both morphology steps, close and open"),
    STEP_PARAMETER("labelling", MOTION_LABELLING, "the labelling step"),
    STEP_PARAMETER("boxes", MOTION_BOXES, "the boxes step"),
    {0},
};

static bool is_swapped(const char *named)
{
    return named[0] && strcmp(named, version_words[0]) != 0; /* MOTION_OPEN's is empty: it goes with MOTION_CLOSE's */
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct motion_params *params = params_erased;
    char value[16] = "otsu";
    int used;

    if (params->value != MOTION_VALUE_OTSU)
        snprintf(value, sizeof value, "%d", params->value);
    used = snprintf(text, size, "value=%s ksize=%d sigma=%.6g shape=%s disk=%d background=%s", value, params->ksize,
                    params->sigma, shapes[params->shape], params->disk, params->background);
    if (params->ops != MOTION_OPS_CLOSE_OPEN && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, " ops=%s", ops[params->ops]);
    if (motion_has_running_mean(params) && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, " rate=%d", params->rate);
    /* Seldom set, and a headline is short. */
    for (const struct parameter *p = parameters; p->name && used >= 0 && (size_t)used < size; p++) {
        const int number = p->kind == PARAMETER_INT ? *(const int *)((const char *)params + p->offset) : 0;

        if ((p->offset == offsetof(struct motion_params, connectivity) ||
             p->offset == offsetof(struct motion_params, min_area) ||
             p->offset == offsetof(struct motion_params, max_boxes)) &&
            number != (int)p->preset)
            used += snprintf(text + used, size - (size_t)used, " %s=%d", p->name, number);
    }
    for (int step = 0; step < MOTION_STEPS && used >= 0 && (size_t)used < size; step++)
        if (is_swapped(params->versions[step]))
            used += snprintf(text + used, size - (size_t)used, " %s=%s", motion_step_algorithm((enum motion_step)step),
                             params->versions[step]);
}

/* --------------------------------------------------------------------------------------------------- steps */

static const struct {
    const char *name, *algorithm;
} steps_of_motion[MOTION_STEPS] = {
    [MOTION_GRAYSCALE] = {"grayscale", "grayscale"}, [MOTION_BLUR] = {"blur", "blur"},
    [MOTION_ABSDIFF] = {"absdiff", "absdiff"},       [MOTION_THRESHOLD] = {"threshold", "threshold"},
    [MOTION_CLOSE] = {"close", "morphology"},        [MOTION_OPEN] = {"open", "morphology"},
    [MOTION_LABELLING] = {"labelling", "labelling"}, [MOTION_BOXES] = {"boxes", "boxes"},
};

const char *motion_step_name(enum motion_step step)
{
    return steps_of_motion[step].name;
}

const char *motion_step_algorithm(enum motion_step step)
{
    return steps_of_motion[step].algorithm;
}

static const char *version_named(const struct motion_params *params, enum motion_step step)
{
    return params->versions[step == MOTION_OPEN ? MOTION_CLOSE : step];
}

static void settings_of(const struct motion_params *params, enum motion_step step, char *text, size_t size)
{
    switch (step) {
    case MOTION_BLUR:
        snprintf(text, size, "ksize=%d sigma=%.17g", params->ksize, params->sigma);
        break;
    case MOTION_THRESHOLD:
        if (params->value == MOTION_VALUE_OTSU)
            snprintf(text, size, "value=otsu");
        else
            snprintf(text, size, "value=%d", params->value);
        break;
    case MOTION_CLOSE:
    case MOTION_OPEN:
        snprintf(text, size, "op=%s shape=%s ksize=%d", step == MOTION_CLOSE ? "close" : "open", shapes[params->shape],
                 params->disk);
        break;
    case MOTION_LABELLING:
        snprintf(text, size, "connectivity=%d", params->connectivity);
        break;
    case MOTION_BOXES:
        snprintf(text, size, "min_area=%d max_boxes=%d", params->min_area, params->max_boxes);
        break;
    default:
        snprintf(text, size, "%s", "");
    }
}

/* Whether two ids are of the same side: "cuda/v1.0" and "cuda/v1.3". */
static bool same_side(const char *a, const char *b)
{
    const size_t length = strcspn(a, "/");

    return strncmp(a, b, length + 1) == 0;
}

enum status motion_step_open(struct step *step, enum motion_step which, const struct motion_params *params,
                             const char *rung, const char *id)
{
    const char *named = version_named(params, which), *found;
    char settings[128];
    enum status status = STATUS_OK;

    settings_of(params, which, settings, sizeof settings);
    TRY(step_open(step, motion_step_name(which), motion_step_algorithm(which), is_swapped(named) ? named : id,
                  settings));
    found = step->version->source->id;
    if (!same_side(found, rung) && !same_side(found, id)) {
        status = status_set(STATUS_BAD_INPUT, "%s=%s: a step of motion:%s must be one of its own side, not %s",
                            motion_step_algorithm(which), named, rung, found);
        step_close(step);
    }
out:
    return status;
}

enum status motion_steps_open(struct step steps[MOTION_STEPS], const struct motion_params *params, const char *rung,
                              const char *boxes)
{
    enum status status = STATUS_OK;

    for (int step = 0; step < MOTION_STEPS; step++)
        TRY(motion_step_open(&steps[step], (enum motion_step)step, params, rung, step == MOTION_BOXES ? boxes : rung));
out:
    if (status != STATUS_OK)
        motion_steps_close(steps);
    return status;
}

void motion_steps_close(struct step steps[MOTION_STEPS])
{
    for (int step = 0; step < MOTION_STEPS; step++)
        step_close(&steps[step]);
}

enum status motion_refuse_swap(const struct motion_params *params, enum motion_step which, const char *id)
{
    if (!is_swapped(version_named(params, which)))
        return STATUS_OK;
    return status_set(STATUS_BAD_INPUT, "%s=%s: motion:%s has fused this step with others and cannot swap it",
                      motion_step_algorithm(which), version_named(params, which), id);
}

/* Lets the steps' own contracts judge their settings, and completes what the table's headline shows. */
static enum status finish(void *params_erased)
{
    struct motion_params *params = params_erased;
    enum status status = STATUS_OK;

    for (int step = 0; step < MOTION_STEPS; step++) {
        const struct algorithm *algorithm = registry_find_algorithm(motion_step_algorithm((enum motion_step)step));
        const char *named = version_named(params, (enum motion_step)step);
        const struct version *version;
        char settings[128];
        double scratch[64];

        if (!algorithm)
            return status_set(STATUS_FAILED, "motion: there is no algorithm %s",
                              motion_step_algorithm((enum motion_step)step));
        if (algorithm->params_size > sizeof scratch)
            return status_set(STATUS_FAILED, "motion: parameters of %s are too large", algorithm->name);
        settings_of(params, (enum motion_step)step, settings, sizeof settings);
        TRY(params_parse_text(algorithm, settings, scratch));
        if (step == MOTION_BLUR) {
            struct blur_params blur;
            memcpy(&blur, scratch, sizeof blur);
            params->sigma = blur.sigma;
        }
        if (is_swapped(named))
            TRY(registry_find_version(algorithm, named, &version));
    }
    if (!params->background[0])
        return status_set(STATUS_BAD_INPUT, "background: must be first, mean or the path of a picture");
out:
    return status;
}

static const char *background_file(const void *params_erased)
{
    const struct motion_params *params = params_erased;

    return strcmp(params->background, "first") == 0 || motion_has_running_mean(params) ? NULL : params->background;
}

/* -------------------------------------------------------------------------------------------- running mean */

void motion_mean_start(struct image *mean, const struct image *blurred)
{
    for (int y = 0; y < mean->height; y++) {
        const uint8_t *from = image_row(blurred, y);
        uint16_t *to = image_row(mean, y);
        for (int x = 0; x < mean->width; x++)
            to[x] = (uint16_t)(from[x] << 8);
    }
}

void motion_mean_update(struct image *mean, const struct image *blurred, struct image *background, int rate, int first,
                        int last)
{
    for (int y = first; y < last; y++) {
        const uint8_t *restrict from = image_row(blurred, y);
        uint16_t *restrict m = image_row(mean, y);
        uint8_t *restrict b = image_row(background, y);
        for (int x = 0; x < mean->width; x++) {
            m[x] = (uint16_t)(m[x] + (((from[x] << 8) - m[x]) >> rate));
            b[x] = (uint8_t)((m[x] + 128) >> 8);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct motion_params *params = params_erased;

    for (int i = 0; i < 2; i++) {
        if (in[i].type != PIXEL_U8)
            return status_set(STATUS_BAD_INPUT, "motion takes u8 samples, not %s", pixel_name(in[i].type));
        if (in[i].channels != 3)
            return status_set(STATUS_BAD_INPUT, "motion takes 3 channels (RGB), not %d", in[i].channels);
    }
    if (!image_same_shape(&in[0], &in[1]))
        return status_set(STATUS_BAD_INPUT, "motion takes two frames of the same size, not %dx%d and %dx%d",
                          in[0].width, in[0].height, in[1].width, in[1].height);
    if ((int64_t)in->width * in->height > INT32_MAX)
        return status_set(STATUS_BAD_INPUT, "motion takes at most 2^31-1 pixels, not %dx%d", in->width, in->height);
    if (params->value == MOTION_VALUE_OTSU && (int64_t)in->width * in->height > OTSU_MAX_PIXELS)
        return status_set(STATUS_BAD_INPUT, "motion with value=otsu takes at most %d pixels, not %dx%d",
                          OTSU_MAX_PIXELS, in->width, in->height);
    out->width = BOXES_COLUMNS;
    out->height = params->max_boxes + 1;
    out->channels = 1;
    out->type = PIXEL_I32;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads a frame once; the background's blurred gray picture once more. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct motion_params *params = params_erased;
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = 4 * pixels + 4.0 * BOXES_COLUMNS * (params->max_boxes + 1);
    cost->operations[OPERATION_OTHER] = pixels;
}

/* The frame becomes the first frame with bright and dark patches that were not there: patterns and photographs are the
 * same in both, and nothing would move. In each cell of 64x64 pixels, a rectangle of 8 to 47 pixels a side turns into
 * its negative; in three cells of four. A cell's rectangle may reach into the next one, so that some join. */
static void prepare(struct image in[])
{
    uint32_t random = 12345;

    image_copy(&in[1], &in[0]);
    for (int top = 0; top < in->height; top += 64)
        for (int left = 0; left < in->width; left += 64) {
            int size[2], at[2];

            random = random * 1664525 + 1013904223;
            if (random >> 30 == 0)
                continue;
            for (int i = 0; i < 2; i++) {
                random = random * 1664525 + 1013904223;
                size[i] = 8 + (int)((random >> 24) % 40);
                at[i] = (int)((random >> 16) % 32);
            }
            for (int y = top + at[1]; y < top + at[1] + size[1] && y < in->height; y++) {
                uint8_t *row = image_row(&in[1], y);
                for (int x = 3 * (left + at[0]); x < 3 * (left + at[0] + size[0]) && x < 3 * in->width; x++)
                    row[x] = (uint8_t)(255 - row[x]);
            }
        }
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8, PIXEL_U8};
    enum status status = inputs_make_pictures(request, types, 2, in);

    if (status == STATUS_OK)
        prepare(in);
    return status;
}

/* -------------------------------------------------------------------------- answers worked out by hand
 * ksize=3 sigma=0.1 blurs nothing: exp(-50) rounds to the weight 0. disk=3 is a cross of 5 pixels. */

#define WORDS(...)                                                                                                     \
    (const uint8_t *)(const int32_t[])                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define K 0, 0, 0
#define W 255, 255, 255
#define G 26, 26, 26
#define D 25, 25, 25

static const struct golden goldens[] = {
    {
        /* Everything has moved: x (256 * 18 + 6) / 12 = 384, y (256 * 12 + 6) / 12 = 256. */
        .name = "white after black",
        .settings = "max_boxes=1",
        .width = 4,
        .height = 3,
        .channels = 3,
        .in = {(const uint8_t[]){K, K, K, K, /**/
                                 K, K, K, K, /**/
                                 K, K, K, K},
               (const uint8_t[]){W, W, W, W, /**/
                                 W, W, W, W, /**/
                                 W, W, W, W}},
        .out = {WORDS(1, 0, 0, 0, 0, 0, 0, 0, /**/
                      1, 0, 0, 4, 3, 12, 384, 256)},
    },
    {
        /* A cross that differs by 26 is closed (dilated to a diamond, eroded to the cross) and opened (eroded to its
         * centre, dilated to the cross) to itself. Its first pixel is (3,1), so label 1 * 7 + 3 + 1. A difference of 25
         * is background; the white pixel in the corner is too small for the opening. */
        .name = "a cross, a pixel, and what is too faint",
        .settings = "value=25 ksize=3 sigma=0.1 disk=3 max_boxes=2",
        .width = 7,
        .height = 5,
        .channels = 3,
        .in = {(const uint8_t[]){K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K},
               (const uint8_t[]){D, D, K, K, K, K, W, /**/
                                 D, D, K, G, K, K, K, /**/
                                 D, K, G, G, G, K, K, /**/
                                 D, D, K, G, K, K, K, /**/
                                 D, D, K, K, K, K, K}},
        .out = {WORDS(1, 0, 0, 0, 0, 0, 0, 0,      /**/
                      11, 2, 1, 3, 3, 5, 768, 512, /**/
                      0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {
        /* Without the opening the white pixel stays: closing leaves a pixel in the corner as it is. Its label is
         * 0 * 7 + 6 + 1, so that it comes before the cross. */
        .name = "a cross and a pixel, closed alone",
        .settings = "ops=close value=25 ksize=3 sigma=0.1 disk=3 max_boxes=2",
        .width = 7,
        .height = 5,
        .channels = 3,
        .in = {(const uint8_t[]){K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K, /**/
                                 K, K, K, K, K, K, K},
               (const uint8_t[]){K, K, K, K, K, K, W, /**/
                                 K, K, K, G, K, K, K, /**/
                                 K, K, G, G, G, K, K, /**/
                                 K, K, K, G, K, K, K, /**/
                                 K, K, K, K, K, K, K}},
        .out = {WORDS(2, 0, 0, 0, 0, 0, 0, 0,    /**/
                      7, 6, 0, 1, 1, 1, 1536, 0, /**/
                      11, 2, 1, 3, 3, 5, 768, 512)},
    },
    {
        /* Darker counts as brighter does. */
        .name = "1x1, black after white",
        .settings = "max_boxes=1",
        .width = 1,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){W}, (const uint8_t[]){K}},
        .out = {WORDS(1, 0, 0, 0, 0, 0, 0, 0, /**/
                      1, 0, 0, 1, 1, 1, 0, 0)},
    },
    {0},
};

static const char *const check_settings[] = {
    "ksize=5 sigma=0.7 disk=3 max_boxes=3", "value=100 shape=square disk=7", "value=otsu ksize=3 disk=5",
    "connectivity=4 disk=3 min_area=40", "background=mean rate=2 disk=9",
    /* Without a blur: noise, many small components of any form. */
    "value=200 ksize=3 sigma=0.1 disk=3", "value=120 ksize=3 sigma=0.1 disk=3 connectivity=4 min_area=6 max_boxes=9",
    "value=60 disk=19", "ops=close disk=5", "ops=close value=200 ksize=3 sigma=0.1 disk=31 shape=square",
    "ops=close value=120 ksize=3 disk=3",
    /* Every pixel of the mean shows, those of the last row too. */
    "background=mean rate=1 value=1 ksize=3 sigma=0.1 disk=3", NULL};

/* The boxes on the frame. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    const enum status status = draw_canvas(picture, &in[1]);

    (void)params;
    if (status == STATUS_OK)
        boxes_draw(picture, &out[0], draw_palette(0));
    return status;
}

static struct algorithm motion = {
    .name = "motion",
    .summary = "moving-object detector: boxes of what differs from the background; for videos, too",
    .inputs = {{.name = "background", .kind = SLOT_PICTURE, .type = PIXEL_U8},
               {.name = "frame", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "boxes", .kind = SLOT_TABLE, .columns = boxes_column_names, .draw = draw}},
    .params_size = sizeof(struct motion_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){3, 0},
    .goldens = goldens,
    .bench_channels = 3,
    .make_inputs = make_inputs,
    .video = true,
    .background_file = background_file,
};

RUNGS_ALGORITHM(motion)
