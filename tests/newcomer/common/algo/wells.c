#include "common/algo/wells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/core/file.h"
#include "common/core/progress.h"

static const char head[] = {'W', 'E', 'L', 'L'};

static enum status load(const char *path, void **data, size_t *size)
{
    enum status status = STATUS_OK;
    char bytes[sizeof head + 1];
    uint64_t file_size = 0;
    FILE *stream = NULL;

    TRY(file_open(path, &stream, &file_size));
    if (file_size != sizeof bytes || fread(bytes, 1, sizeof bytes, stream) != sizeof bytes ||
        memcmp(bytes, head, sizeof head) != 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: damaged (no WELL and one byte)", path);
        goto out;
    }
    *data = malloc(1);
    if (!*data) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    memcpy(*data, bytes + sizeof head, 1);
    *size = 1;
out:
    if (stream)
        fclose(stream);
    return status;
}

/* `least` is how many files there are. */
static enum status train(const struct training *training)
{
    const uint8_t least = (uint8_t)training->data_count;
    struct output_file file = {0};
    enum status status = STATUS_OK;

    TRY(file_create(&file, training->out));
    file_write(&file, head, sizeof head);
    file_write(&file, &least, 1);
    TRY(file_commit(&file));
out:
    file_discard(&file);
    return status;
}

static enum status shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    if (in[0].type != PIXEL_U8 || in[0].channels != 1)
        return status_set(STATUS_BAD_INPUT, "wells takes gray u8");
    out[0] = (struct image){.width = 3, .height = WELLS_ROWS + 1, .channels = 1, .type = PIXEL_F32};
    out[1] = (struct image){.width = in[0].width, .height = in[0].height, .channels = 1, .type = PIXEL_U8};
    out[2] = (struct image){.width = 2, .height = 2, .channels = 1, .type = PIXEL_F64};
    return STATUS_OK;
}

/* Operations are what the reference found. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    (void)params;
    cost->bytes = 2.0 * in[0].width * in[0].height;
    cost->operations[OPERATION_OTHER] = out ? image_sample(&out[0], 0, 0, 0) : 1;
}

static int radius(const void *params)
{
    (void)params;
    return 1;
}

/* "deep": white but for one black pixel, which is deeper than noise has any. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};

    if (!request->hard_case)
        return inputs_make_pictures(request, types, 1, in);
    const enum status status = image_create(&in[0], request->width, request->height, 1, PIXEL_U8);

    if (status == STATUS_OK) {
        image_fill(&in[0], 255);
        image_set_sample(&in[0], in[0].width - 2, in[0].height - 2, 0, 0);
    }
    return status;
}

static const char *const columns[] = {"x", "y", "depth", NULL};
static const char *const models[] = {"tests/newcomer/two.well"};
static const struct parameter parameters[] = {{.name = "model",
                                               .kind = PARAMETER_MODEL,
                                               .offset = offsetof(struct wells_params, model),
                                               .words = models,
                                               .load = load,
                                               .help = "least depth, of rungs train wells"},
                                              {0}};
static const struct parameter no_parameters[] = {{0}};
static const struct trainer trainer = {
    .params_size = 1, .parameters = no_parameters, .data_help = "FILE...", .train = train};
static const int deep_shapes[][3] = {{40, 9, 1}, {130, 33, 1}, {0}};
static const struct hard_case hard_cases[] = {{.name = "deep", .shapes = deep_shapes}, {0}};

static struct algorithm wells = {
    .name = "wells",
    .summary = "dark points of a picture",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "wells", .kind = SLOT_TABLE, .columns = columns, .comparison = {.up_to_order = true}},
                {.name = "mask", .kind = SLOT_PICTURE},
                {.name = "moments", .kind = SLOT_MATRIX, .comparison = {.tolerance = 1e-12, .relative = true}}},
    .params_size = sizeof(struct wells_params),
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_channels = (const int[]){1, 0},
    .bench_channels = 1,
    .trainer = &trainer,
};

RUNGS_ALGORITHM(wells)
