#include "tests/small/small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"
#include "common/core/progress.h"
#include "common/image/draw.h"

static const struct parameter no_parameters[] = {{0}};

static int no_radius(const void *params)
{
    (void)params;
    return 0;
}

static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    (void)out;
    (void)params;
    cost->bytes = (double)image_pixel_bytes(&in[0]);
}

static struct image shape_of(int width, int height, int channels, enum pixel_type type)
{
    return (struct image){.width = width, .height = height, .channels = channels, .type = type};
}

/* ------------------------------------------------------------------------------------------------------- spots */

static const char *const yes_no[] = {"no", "yes", NULL};
static const struct parameter spots_parameters[] = {
    {.name = "level",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct spots_params, level),
     .maximum = 255,
     .preset = 100,
     .help = "smallest value of a spot"},
    {.name = "map",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct spots_params, map),
     .words = yes_no,
     .help = "whether to make the map"},
    {0},
};

static enum status spots_shape(const struct image in[], const void *params, struct image out[])
{
    if (in[0].type != PIXEL_U8 || in[0].channels != 1)
        return status_set(STATUS_BAD_INPUT, "spots takes gray u8");
    out[0] = shape_of(3, SPOTS_ROWS + 1, 1, PIXEL_F32);
    if (((const struct spots_params *)params)->map)
        out[1] = shape_of(in[0].width, in[0].height, 1, PIXEL_F32);
    out[2] = shape_of(in[0].width, in[0].height, 1, PIXEL_I32);
    return STATUS_OK;
}

static enum status spots_draw(const struct image in[], const struct image out[], const void *params,
                              struct image *picture)
{
    const enum status status = draw_canvas(picture, &in[0]);

    (void)params;
    for (int k = 1; status == STATUS_OK && k <= slot_table_rows(&out[0]); k++)
        draw_cross(picture, (int)image_sample(&out[0], 0, k, 0), (int)image_sample(&out[0], 1, k, 0), 1,
                   draw_palette(0));
    return status;
}

static const char *const spots_columns[] = {"x", "y", "value", NULL};
static struct algorithm spots = {
    .name = "spots",
    .summary = "bright pixels",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs =
        {{.name = "spots", .kind = SLOT_TABLE, .columns = spots_columns, .draw = spots_draw, .help = "in pixels"},
         {.name = "map", .kind = SLOT_PICTURE, .help = "a quarter of the picture"},
         {.name = "labels", .kind = SLOT_LABELS}},
    .params_size = sizeof(struct spots_params),
    .parameters = spots_parameters,
    .shape = spots_shape,
    .cost = cost,
    .radius = no_radius,
    .check_channels = (const int[]){1, 0},
    .bench_channels = 1,
};

/* ------------------------------------------------------------------------------------------------ gram and cube */

static enum status gram_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    if (in[0].type != PIXEL_F64 || in[0].channels != 1)
        return status_set(STATUS_BAD_INPUT, "gram takes an f64 matrix, not %s", pixel_name(in[0].type));
    out[0] = shape_of(in[0].width, in[0].width, 1, PIXEL_F64);
    return STATUS_OK;
}

static enum status gram_make(const struct input_request *request, struct image in[])
{
    enum status status = array_create(&in[0], request->width, request->height, 1, PIXEL_F64);

    for (int y = 0; status == STATUS_OK && y < in[0].height; y++)
        for (int x = 0; x < in[0].width; x++)
            image_set_sample(&in[0], x, y, 0, (x * 7 + y * 3) % 11);
    return status;
}

static struct algorithm gram = {
    .name = "gram",
    .summary = "matrix of scalar products",
    .inputs = {{.name = "a", .kind = SLOT_MATRIX, .type = PIXEL_F64}},
    .outputs = {{.name = "products", .kind = SLOT_MATRIX}},
    .params_size = sizeof(struct gram_params),
    .parameters = no_parameters,
    .shape = gram_shape,
    .cost = cost,
    .radius = no_radius,
    .make_inputs = gram_make,
    .check_channels = (const int[]){1, 0},
    .bench_channels = 1,
    .bench_shape = (const int[]){5, 70000, 1},
};

static enum status cube_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    if (in[1].type != PIXEL_F32 || in[1].width != 1 || in[1].height != in[0].channels)
        return status_set(STATUS_BAD_INPUT, "cube takes an f32 weight for each of %d bands", in[0].channels);
    out[0] = shape_of(in[0].width, in[0].height, in[0].channels, PIXEL_F64);
    out[1] = shape_of(in[0].width, in[0].height, 1, PIXEL_F64);
    return STATUS_OK;
}

static struct algorithm cube = {
    .name = "cube",
    .summary = "weighted sums of bands",
    .inputs = {{.name = "cube", .kind = SLOT_TENSOR, .type = PIXEL_U16},
               {.name = "weights", .kind = SLOT_MATRIX, .type = PIXEL_F32}},
    .outputs = {{.name = "copy", .kind = SLOT_TENSOR}, {.name = "sums", .kind = SLOT_MATRIX}},
    .params_size = sizeof(struct cube_params),
    .parameters = no_parameters,
    .shape = cube_shape,
    .cost = cost,
    .radius = no_radius,
    .check_channels = (const int[]){1, 0},
    .bench_channels = 1,
};

static enum status count_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    (void)in;
    out[0] = shape_of(1, 1, 1, PIXEL_I32);
    return STATUS_OK;
}

static struct algorithm count = {
    .name = "count",
    .summary = "rows of a table",
    .inputs = {{.name = "table", .kind = SLOT_TABLE, .type = PIXEL_F32}},
    .outputs = {{.name = "number", .kind = SLOT_MATRIX}},
    .params_size = sizeof(struct count_params),
    .parameters = no_parameters,
    .shape = count_shape,
    .cost = cost,
    .radius = no_radius,
    .check_channels = (const int[]){1, 0},
    .bench_channels = 1,
};

/* --------------------------------------------------------------------------------------------------------- lut */

enum { HEAD_SIZE = sizeof LUT_HEAD - 1, TABLE_SIZE = 256 };

static enum status load_table(const char *path, void **data, size_t *size)
{
    enum status status = STATUS_OK;
    char bytes[HEAD_SIZE + TABLE_SIZE];
    uint64_t file_size = 0;
    FILE *stream = NULL;

    TRY(file_open(path, &stream, &file_size));
    if (file_size != sizeof bytes || fread(bytes, 1, sizeof bytes, stream) != sizeof bytes ||
        memcmp(bytes, LUT_HEAD, HEAD_SIZE) != 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: damaged (not a table of 256 bytes)", path);
        goto out;
    }
    *data = malloc(TABLE_SIZE);
    if (!*data) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    memcpy(*data, bytes + HEAD_SIZE, TABLE_SIZE);
    *size = TABLE_SIZE;
out:
    if (stream)
        fclose(stream);
    return status;
}

static const char *const default_table[] = {"tests/small/invert.lut"};
static const struct parameter lut_parameters[] = {
    {.name = "table",
     .kind = PARAMETER_MODEL,
     .offset = offsetof(struct lut_params, table),
     .words = default_table,
     .load = load_table,
     .help = "what each value becomes"},
    {0},
};

struct lut_training {
    int gain;
};
static const struct parameter lut_training_parameters[] = {
    {.name = "gain",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct lut_training, gain),
     .minimum = 1,
     .maximum = 9,
     .preset = 1,
     .help = "factor"},
    {0},
};

/* Counts the bytes of all data: value v becomes gain * v + count. With --resume the count starts at 100. */
static enum status lut_train(const struct training *training)
{
    enum status status = STATUS_OK;
    struct output_file file = {0};
    FILE *stream = NULL;
    uint64_t size, sum = training->resume ? 100 : 0;

    for (size_t i = 0; i < training->data_count; i++) {
        TRY(file_open(training->data[i], &stream, &size));
        fclose(stream);
        sum += size;
        progress("%zu of %zu", i + 1, training->data_count);
    }
    if (training->extra && strstr(training->extra, "bad")) {
        status = status_set(STATUS_BAD_INPUT, "%s: no boxes in it", training->extra);
        goto out;
    }
    TRY(file_create(&file, training->out));
    file_write(&file, LUT_HEAD, HEAD_SIZE);
    for (unsigned v = 0; v < TABLE_SIZE; v++) {
        const uint8_t value = (uint8_t)((unsigned)((const struct lut_training *)training->params)->gain * v + sum);

        file_write(&file, &value, 1);
    }
    TRY(file_commit(&file));
out:
    file_discard(&file);
    return status;
}

static const struct trainer lut_trainer = {.params_size = sizeof(struct lut_training),
                                           .parameters = lut_training_parameters,
                                           .data_help = "FILE...",
                                           .train = lut_train};

static enum status lut_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    if (in[0].type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "lut takes u8");
    out[0] = shape_of(in[0].width, in[0].height, in[0].channels, PIXEL_U8);
    return STATUS_OK;
}

static struct algorithm lut = {
    .name = "lut",
    .summary = "samples looked up in a table",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "picture", .kind = SLOT_PICTURE}},
    .params_size = sizeof(struct lut_params),
    .parameters = lut_parameters,
    .shape = lut_shape,
    .cost = cost,
    .radius = no_radius,
    .check_channels = (const int[]){1, 0},
    .bench_channels = 1,
    .trainer = &lut_trainer,
};

RUNGS_ALGORITHM(spots)

#define ALSO(name)                                                                                                     \
    __attribute__((constructor)) static void register_##name(void)                                                     \
    {                                                                                                                  \
        registry_add_algorithm(&(name));                                                                               \
    }
ALSO(gram)
ALSO(cube)
ALSO(count)
ALSO(lut)
