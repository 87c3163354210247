#include "common/algo/threshold.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/algo/otsu.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const words[] = {"otsu", NULL};

static const struct parameter parameters[] = {
    {.name = "value",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct threshold_params, value),
     .minimum = 0,
     .maximum = 255,
     .preset = 128,
     .words = words,
     .help = "largest gray level that becomes 0, or otsu: found from the image"},
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct threshold_params *params = params_erased;

    if (params->value == THRESHOLD_OTSU)
        snprintf(text, size, "value=otsu");
    else
        snprintf(text, size, "value=%d", params->value);
}

enum status threshold_value(const struct image *in, const struct threshold_params *params, const char *otsu, int *value)
{
    const struct version *version = NULL;
    void *state = NULL;
    int32_t found = 0;
    struct image out = {.width = 1, .height = 1, .channels = 1, .type = PIXEL_I32, .stride = 64, .data = &found};
    enum status status = STATUS_OK;

    *value = params->value;
    if (params->value != THRESHOLD_OTSU)
        return STATUS_OK;
    TRY(registry_find_version(registry_find_algorithm("otsu"), otsu, &version));
    state = calloc(1, version->state_size ? version->state_size : 1);
    if (!state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of %s", otsu);
    TRY(version->run(state, in, &out, NULL));
    *value = found;
out:
    if (state && version->teardown)
        version->teardown(state);
    free(state);
    return status;
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct threshold_params *params = params_erased;

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "threshold takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1 && in->channels != 3)
        return status_set(STATUS_BAD_INPUT, "threshold takes 1 or 3 channels, not %d", in->channels);
    if (params->value == THRESHOLD_OTSU && in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "threshold with value=otsu takes 1 channel, not %d", in->channels);
    if (params->value == THRESHOLD_OTSU && (int64_t)in->width * in->height > OTSU_MAX_PIXELS)
        return status_set(STATUS_BAD_INPUT, "threshold with value=otsu takes at most %d pixels, not %dx%d",
                          OTSU_MAX_PIXELS, in->width, in->height);
    out->width = in->width;
    out->height = in->height;
    out->channels = in->channels;
    out->type = PIXEL_U8;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads each sample once, writes each once; otsu must see all of them before the first can be written, but need not
 * fetch them from main memory twice. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct threshold_params *params = params_erased;
    const double samples = (double)image_pixel_bytes(in);

    (void)out;
    cost->bytes = 2 * samples;
    cost->operations[OPERATION_COMPARISON_8] = samples;
    if (params->value == THRESHOLD_OTSU)
        cost->operations[OPERATION_COUNTER_INCREMENT] = samples;
}

/* -------------------------------------------------------------------------- answers worked out by hand */

static const struct golden goldens[] = {
    {
        /* Only what is larger than 128. */
        .name = "around the default",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){0, 127, 128, 129, 130, 255}},
        .out = {(const uint8_t[]){0, 0, 0, 255, 255, 255}},
    },
    {
        .name = "nothing is larger than 255",
        .settings = "value=255",
        .width = 2,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){254, 255}},
        .out = {(const uint8_t[]){0, 0}},
    },
    {
        .name = "all but 0 is larger than 0",
        .settings = "value=0",
        .width = 1,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 1, 255}},
        .out = {(const uint8_t[]){0, 255, 255}},
    },
    {
        .name = "channels apart",
        .settings = "value=100",
        .width = 2,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){100, 101, 99, 200, 0, 255}},
        .out = {(const uint8_t[]){0, 255, 0, 255, 0, 255}},
    },
    {
        /* otsu.c works it out: 60. */
        .name = "otsu",
        .settings = "value=otsu",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){200, 60, 0, 200, 60, 200}},
        .out = {(const uint8_t[]){255, 0, 0, 255, 0, 255}},
    },
    {
        /* One class: the threshold is 0. */
        .name = "otsu of a constant",
        .settings = "value=otsu",
        .width = 2,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){7, 7}},
        .out = {(const uint8_t[]){255, 255}},
    },
    {0},
};

/* Both ends, values around the sign bit (a signed comparison of bytes shows), and otsu. */
static const char *const check_settings[] = {
    "value=0", "value=1", "value=126", "value=127", "value=254", "value=255", "value=otsu", "value=otsu", NULL,
};

static struct algorithm threshold = {
    .name = "threshold",
    .summary = "255 where a sample is larger than a value, fixed or Otsu's, else 0; u8, 1 or 3 channels",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "mask", .kind = SLOT_PICTURE}},
    .params_size = sizeof(struct threshold_params),
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 3, 0},
    .goldens = goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(threshold)
