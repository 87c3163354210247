#include "common/algo/barcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/barcode/train.h"
#include "common/algo/blur.h"
#include "common/algo/boxes.h"
#include "common/contract/inputs.h"
#include "common/image/draw.h"

static const struct texture_model *model_of(const struct model *file)
{
    return file->data;
}

void barcode_posteriors(const struct model *file, uint8_t posteriors[NEAREST_MAX_K])
{
    const struct texture_model *model = model_of(file);

    for (int j = 0; j < model->k; j++)
        posteriors[j] = (uint8_t)(255 * model->values[j * model->columns + LBP_BINS] + 0.5f);
}

void barcode_boxes(const struct image *patches, int ratio, int width, int height, struct image *boxes)
{
    const int count = boxes_count(patches);
    int32_t kept = 0;

    image_fill(boxes, 0);
    for (int k = 1; k <= count; k++) {
        const int32_t *from = image_row(patches, k);
        if (!barcode_fits(from, ratio) || ++kept >= boxes->height)
            continue;
        int32_t *box = image_row(boxes, kept);
        box[0] = BARCODE_PATCH * from[1];
        box[1] = BARCODE_PATCH * from[2];
        box[2] = BARCODE_PATCH * from[3];
        box[3] = BARCODE_PATCH * from[4];
        box[2] = box[0] + box[2] > width ? width - box[0] : box[2];
        box[3] = box[1] + box[3] > height ? height - box[1] : box[3];
    }
    *(int32_t *)boxes->data = kept;
}

/* ----------------------------------------------------------------------------------------------- the steps */

enum status barcode_open(struct barcode_steps *steps, const struct image *score, const struct barcode_params *params,
                         const char *id)
{
    char blur[64], threshold[32], boxes[64];
    struct image shape;
    enum status status = STATUS_OK;

    snprintf(blur, sizeof blur, "ksize=%d sigma=%.17g", params->ksize, params->sigma);
    snprintf(threshold, sizeof threshold, "value=%d", params->value);
    snprintf(boxes, sizeof boxes, "min_area=%d max_boxes=%d", params->min_area, BARCODE_CANDIDATES);
    TRY(array_create(&steps->labels, score->width, score->height, 1, PIXEL_U8));
    TRY(image_create(&steps->posterior, score->width, score->height, 1, PIXEL_U8));
    TRY(image_create_like(&steps->mask, &steps->posterior));
    TRY(step_open(&steps->blur, "blur", "blur", id, blur));
    TRY(step_open(&steps->threshold, "threshold", "threshold", id, threshold));
    TRY(step_open(&steps->labelling, "labelling", "labelling", id, "connectivity=8"));
    TRY(step_shape(&steps->labelling, &steps->mask, &shape));
    TRY(image_create_like(&steps->components, &shape));
    TRY(step_open(&steps->boxes, "boxes", "boxes", id, boxes));
    TRY(step_shape(&steps->boxes, &steps->components, &shape));
    TRY(array_create(&steps->table, shape.width, shape.height, 1, shape.type));
out:
    if (status != STATUS_OK)
        barcode_close(steps);
    return status;
}

enum status barcode_run(struct barcode_steps *steps, const struct barcode_params *params, int width, int height,
                        struct image out[])
{
    uint8_t posteriors[NEAREST_MAX_K];
    enum status status = STATUS_OK;

    step_begin("posterior", NULL);
    barcode_posteriors(&params->model, posteriors);
    for (int y = 0; y < steps->labels.height; y++)
        for (int x = 0; x < steps->labels.width; x++)
            ((uint8_t *)image_row(&steps->posterior, y))[x] =
                posteriors[((const uint8_t *)image_row(&steps->labels, y))[x]];
    TRY(step_run(&steps->blur, &steps->posterior, &out[BARCODE_SCORE], NULL));
    TRY(step_run(&steps->threshold, &out[BARCODE_SCORE], &steps->mask, NULL));
    TRY(step_run(&steps->labelling, &steps->mask, &steps->components, NULL));
    TRY(step_run(&steps->boxes, &steps->components, &steps->table, NULL));
    barcode_boxes(&steps->table, params->ratio, width, height, &out[BARCODE_BOXES]);
out:
    return status;
}

void barcode_close(struct barcode_steps *steps)
{
    struct step *all[] = {&steps->blur, &steps->threshold, &steps->labelling, &steps->boxes};
    struct image *images[] = {&steps->labels, &steps->posterior, &steps->mask, &steps->components, &steps->table};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->version)
            step_close(all[i]);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
}

/* ---------------------------------------------------------------------------------------------- parameters */

static enum status load(const char *path, void **data, size_t *size)
{
    const struct texture_model *model;
    enum status status = STATUS_OK;

    TRY(texture_load(path, data, size));
    model = *data;
    if (model->columns != LBP_BINS + 1)
        status = status_set(STATUS_BAD_INPUT,
                            "%s: no column %d, the share of each centroid in barcodes (rungs train barcode)", path,
                            LBP_BINS);
    for (int j = 0; j < model->k && status == STATUS_OK; j++) {
        const float p = model->values[j * model->columns + LBP_BINS];
        if (!(p >= 0 && p <= 1))
            status =
                status_set(STATUS_BAD_INPUT, "%s: row %d, column %d is %g: no share", path, j, LBP_BINS, (double)p);
    }
    if (status != STATUS_OK) {
        free(*data);
        *data = NULL;
    }
out:
    return status;
}

#define INT(field, low, high, normal, text)                                                                            \
    {                                                                                                                  \
        .name = #field, .kind = PARAMETER_INT, .offset = offsetof(struct barcode_params, field), .minimum = low,       \
        .maximum = high, .preset = normal, .help = text                                                                \
    }

static const char *const default_model[] = {"models/barcode.npy", NULL};

static const struct parameter parameters[] = {
    {.name = "model",
     .kind = PARAMETER_MODEL,
     .offset = offsetof(struct barcode_params, model),
     .words = default_model,
     .load = load,
     .help = "centroids and the share of each in barcodes (.npy), of rungs train barcode"},
    INT(ksize, 3, BLUR_MAX_KSIZE, 13, "width of the smoothing in patches, odd"),
    {.name = "sigma",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct barcode_params, sigma),
     .minimum = 0.1,
     .maximum = 100,
     .preset = 2,
     .help = "standard deviation of the smoothing in patches"},
    INT(value, 0, 255, 92, "largest score that is no barcode"),
    INT(min_area, 1, 1 << 28, 100, "patches that a barcode has at least"),
    INT(ratio, 1, 1024, 3, "longer side of a box over the shorter one, at most"),
    INT(max_boxes, 1, BARCODE_CANDIDATES, 64, "rows of the table"),
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct barcode_params *params = params_erased;
    const char *slash = strrchr(params->model.path, '/');

    snprintf(text, size, "model=%s ksize=%d sigma=%g value=%d min_area=%d ratio=%d max_boxes=%d",
             slash ? slash + 1 : params->model.path, params->ksize, params->sigma, params->value, params->min_area,
             params->ratio, params->max_boxes);
}

static enum status finish(void *params_erased)
{
    const struct barcode_params *params = params_erased;

    if (params->ksize % 2 == 0)
        return status_set(STATUS_BAD_INPUT, "ksize must be odd, not %d", params->ksize);
    return params->model.data ? STATUS_OK : status_set(STATUS_BAD_INPUT, "barcode needs -p model=FILE");
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params_erased, struct image out[])
{
    const struct barcode_params *params = params_erased;

    if (in->type != PIXEL_U8 || (in->channels != 1 && in->channels != 3))
        return status_set(STATUS_BAD_INPUT, "barcode takes u8 pictures of 1 or 3 channels, not %s of %d",
                          pixel_name(in->type), in->channels);
    if (in->width < BARCODE_PATCH || in->height < BARCODE_PATCH)
        return status_set(STATUS_BAD_INPUT, "barcode takes a picture of at least %dx%d pixels, not %dx%d",
                          BARCODE_PATCH, BARCODE_PATCH, in->width, in->height);
    out[BARCODE_BOXES] =
        (struct image){.width = BARCODE_COLUMNS, .height = params->max_boxes + 1, .channels = 1, .type = PIXEL_I32};
    out[BARCODE_SCORE] = (struct image){.width = lbp_patches(in->width, BARCODE_PATCH),
                                        .height = lbp_patches(in->height, BARCODE_PATCH),
                                        .channels = 1,
                                        .type = PIXEL_U8};
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads the picture once. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct barcode_params *params = params_erased;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in);
    cost->operations[OPERATION_COMPARISON_8] = 8.0 * in->width * in->height;
    cost->operations[OPERATION_OTHER] = (double)in->width * in->height * model_of(&params->model)->k;
}

/* The boxes on the picture. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    const enum status status = draw_canvas(picture, &in[0]);

    (void)params;
    for (int k = 1; status == STATUS_OK && k <= slot_table_rows(&out[BARCODE_BOXES]); k++) {
        const int32_t *box = image_row(&out[BARCODE_BOXES], k);
        draw_rectangle(picture, box[0], box[1], box[2], box[3], draw_palette(0));
    }
    return status;
}

/* Stripes of 3 pixels, like a barcode's, in a noise of three levels: whatever the pattern, there is something to
 * find. The hard case: every other patch of every other row has columns of 1 and 9, a texture of models/hand.npy, and
 * all else is 0. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    enum status status = inputs_make_pictures(request, types, 1, in);

    for (int y = 0; status == STATUS_OK && request->hard_case && y < in->height; y++) {
        uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width * in->channels; x++)
            row[x] = x / in->channels / BARCODE_PATCH % 2 == 0 && y / BARCODE_PATCH % 2 == 0
                         ? (uint8_t)(1 + 8 * (x / in->channels % 2))
                         : 0;
    }
    for (int y = in->height / 8;
         status == STATUS_OK && !request->photograph && !request->hard_case && y < in->height * 7 / 8; y++) {
        uint8_t *row = image_row(in, y);
        for (int x = in->width / 8 * in->channels; x < in->width * 7 / 8 * in->channels; x++)
            row[x] = x / in->channels / 3 * 7 % 5 < 2 ? 30 : 220;
    }
    return status;
}

static const int check_shapes[][3] = {
    {16, 16, 1}, {17, 33, 3}, {97, 89, 1}, {330, 290, 3}, {401, 307, 1}, {640, 40, 3}, {300, 230, 1}, {0},
};
static const char *const check_settings[] = {
    "min_area=1 value=20 ratio=1024", "ksize=3 sigma=0.5 min_area=2 value=128 ratio=1 max_boxes=3",
    "ksize=5 sigma=1 min_area=4 value=60",
    /* Labels beyond 64, and without a blur patches that touch at corners. */
    "model=common/algo/texture/hard.npy ksize=3 sigma=0.1 min_area=1 value=128 ratio=1024", NULL};
/* 17 x 17 barcodes of one patch each, more candidates than a block has threads. */
static const int many_shapes[][3] = {{528, 528, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {.name = "many of one patch",
     .shapes = many_shapes,
     .settings = "model=models/hand.npy ksize=3 sigma=0.1 value=100 min_area=1 max_boxes=400",
     .further = true},
    {0},
};
static const char *const columns[] = {"x", "y", "width", "height", NULL};

/* ------------------------------------------------------------------------------ answers worked out by hand
 * The picture of texture.c: by models/hand.npy its patches are zeros, columns of 1 and 9 in turns, and another value,
 * cut at the picture's side. Their shares in barcodes are 0, 1 and 1/4: 0, 255 and floor(63.75 + 0.5) = 64. With
 * sigma=0.1 a neighbour weighs e^-50, nothing, and the score is the posterior. */

#define ZEROS   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define STRIPES 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9
#define FIVES   5, 5, 5, 5, 5, 5, 5, 5
#define LINE    ZEROS, STRIPES, FIVES
#define FOUR    LINE, LINE, LINE, LINE

static const uint8_t picture[] = {FOUR, FOUR, FOUR, FOUR}, scores[] = {0, 255, 64};

static const struct golden goldens[] = {
    {
        .name = "stripes",
        .settings = "model=models/hand.npy ksize=3 sigma=0.1 value=64 min_area=1 max_boxes=2",
        .width = 40,
        .height = 16,
        .channels = 1,
        .in = {picture},
        .out = {GOLDEN_SAMPLES(int32_t, 1, 0, 0, 0, /**/ 16, 0, 16, 16, /**/ 0, 0, 0, 0), scores},
    },
    {
        /* The score of the patch that is cut is above the value: one box of both, which ends with the picture. */
        .name = "a box that is cut",
        .settings = "model=models/hand.npy ksize=3 sigma=0.1 value=63 min_area=2 max_boxes=1",
        .width = 40,
        .height = 16,
        .channels = 1,
        .in = {picture},
        .out = {GOLDEN_SAMPLES(int32_t, 1, 0, 0, 0, /**/ 16, 0, 24, 16), scores},
    },
    {
        /* That box is 2 patches wide and 1 high. */
        .name = "a box that is too long",
        .settings = "model=models/hand.npy ksize=3 sigma=0.1 value=63 min_area=2 ratio=1 max_boxes=1",
        .width = 40,
        .height = 16,
        .channels = 1,
        .in = {picture},
        .out = {GOLDEN_SAMPLES(int32_t, 0, 0, 0, 0, /**/ 0, 0, 0, 0), scores},
    },
    {0},
};

static struct algorithm barcode = {
    .name = "barcode",
    .summary = "boxes around barcodes, by the texture of patches",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "boxes", .kind = SLOT_TABLE, .columns = columns, .help = "in pixels", .draw = draw},
                {.name = "score", .kind = SLOT_PICTURE, .help = "smoothed posterior of each patch"}},
    .params_size = sizeof(struct barcode_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_settings = check_settings,
    .goldens = goldens,
    .check_channels = (const int[]){1, 0},
    .check_shapes = check_shapes,
    .bench_channels = 3,
    .bench_shape = (const int[]){1600, 1200, 3},
    .trainer = &barcode_trainer,
};

RUNGS_ALGORITHM(barcode)
