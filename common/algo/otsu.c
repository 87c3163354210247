#include "common/algo/otsu.h"

#include <stdio.h>

#include "common/contract/inputs.h"

int otsu_threshold(const uint32_t histogram[OTSU_BINS])
{
    struct otsu_score best = {0, 1};
    uint32_t pixels = 0, w0 = 0;
    uint64_t sum = 0, s0 = 0;
    int threshold = 0;

    for (int v = 0; v < OTSU_BINS; v++) {
        pixels += histogram[v];
        sum += (uint64_t)v * histogram[v];
    }
    for (int t = 0; t < OTSU_BINS - 1; t++) {
        w0 += histogram[t];
        s0 += (uint64_t)t * histogram[t];
        if (histogram[t] == 0) /* the classes are those of t - 1 */
            continue;
        const struct otsu_score score = otsu_score_of(w0, s0, pixels - w0, sum - s0);
        if (otsu_greater(score, best)) {
            best = score;
            threshold = t;
        }
    }
    return threshold;
}

/* ------------------------------------------------------------------------------------------------- shapes */

static const struct parameter parameters[] = {{0}};

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "otsu takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "otsu takes 1 channel, not %d: make the picture gray first", in->channels);
    if ((int64_t)in->width * in->height > OTSU_MAX_PIXELS)
        return status_set(STATUS_BAD_INPUT, "otsu takes at most %d pixels, not %dx%d", OTSU_MAX_PIXELS, in->width,
                          in->height);
    out->width = out->height = out->channels = 1;
    out->type = PIXEL_I32;
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads each sample once; the result is nothing beside it. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    (void)out, (void)params;
    cost->bytes = (double)image_pixel_bytes(in);
    cost->operations[OPERATION_COUNTER_INCREMENT] = cost->bytes;
}

/* --------------------------------------------------------------------------- inputs that let nothing pass
 * The threshold of an ordinary image does not change when a row is forgotten. So images as small as `rungs check` uses
 * become hard cases: three heaps of values, low, middle and high, the second half of the image the mirror image of the
 * first about the middle value. Then to split off the low heap or the high one are equally good; one pixel is made one
 * level brighter or darker, which decides it, and one pixel forgotten, doubled or misread turns the answer over, if it
 * is on the wrong side. (No exact ties: OpenCV's doubles would decide those by chance.) Images of one or two values
 * (the patterns zero, maximum, checkerboard) and large ones (the bench's photographs) stay as they are. */
enum { HARD_CASE_PIXELS = 1 << 16 };

static uint8_t *pixel(const struct image *image, int64_t index)
{
    return (uint8_t *)image_row(image, (int)(index / image->width)) + index % image->width;
}

static void prepare(struct image in[])
{
    const int64_t pixels = (int64_t)in->width * in->height;
    uint32_t seed = 0;
    int values = 0;
    bool seen[OTSU_BINS] = {false};

    if (pixels > HARD_CASE_PIXELS)
        return;
    for (int64_t i = 0; i < pixels; i++) {
        const uint8_t value = *pixel(in, i);
        seed = seed * 31 + value;
        values += !seen[value];
        seen[value] = true;
    }
    if (values <= 2)
        return;

    const int spread = 1 << seed % 5, apart = 40 + (int)(seed / 8 % 64), middle = 127 - (int)(seed / 512 % 16);
    for (int64_t i = 0; i <= (pixels - 1) / 2; i++) {
        /* Heaps of 3/8, 2/8 and 3/8 of the pixels. */
        const int value = *pixel(in, i), heap = value % 8 < 3 ? -1 : value % 8 < 5 ? 0 : 1;
        const int offset = i == pixels - 1 - i ? 0 : heap * apart + value / 8 % spread;
        *pixel(in, i) = (uint8_t)(middle + offset);
        *pixel(in, pixels - 1 - i) = (uint8_t)(middle - offset);
    }
    *pixel(in, 0) = (uint8_t)(*pixel(in, 0) + (seed / 8192 % 2 ? 1 : -1));
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    enum status status = inputs_make_pictures(request, types, 1, in);

    if (status == STATUS_OK)
        prepare(in);
    return status;
}

/* -------------------------------------------------------------------------- answers worked out by hand
 * Each is the i32 threshold, its lowest byte first. */

static const struct golden goldens[] = {
    {
        /* One class only: no threshold is better than 0. */
        .name = "constant",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200}},
        .out = {(const uint8_t[]){0, 0, 0, 0}},
    },
    {
        .name = "1x1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){77}},
        .out = {(const uint8_t[]){0, 0, 0, 0}},
    },
    {
        /* All thresholds from 10 to 199 separate the two: the smallest. */
        .name = "two values",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){200, 10, 10, 200}},
        .out = {(const uint8_t[]){10, 0, 0, 0}},
    },
    {
        /* t = 254 is the only one that separates the two. */
        .name = "the largest threshold",
        .width = 3,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){254, 255, 255}},
        .out = {(const uint8_t[]){254, 0, 0, 0}},
    },
    {
        /* t = 0:   w0 = 1, S0 = 0, w1 = 2, S1 = 300: D = 1 * 300 - 2 * 0 = 300, 90000 / 2 = 45000.
         * t = 100: w0 = 2, S0 = 100, w1 = 1, S1 = 200: D = 2 * 200 - 1 * 100 = 300, 90000 / 2 = 45000. A tie. */
        .name = "tie",
        .width = 3,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){100, 200, 0}},
        .out = {(const uint8_t[]){0, 0, 0, 0}},
    },
    {
        /* The tie above, one level off. t = 0: D = 1 * 301, 90601 / 2 = 45300.5. t = 101: w0 = 2, S0 = 101, S1 = 200:
         * D = 400 - 101 = 299, 89401 / 2 = 44700.5. */
        .name = "just above the middle",
        .width = 1,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){200, 101, 0}},
        .out = {(const uint8_t[]){0, 0, 0, 0}},
    },
    {
        /* t = 0: D = 1 * 299, 89401 / 2 = 44700.5. t = 99: w0 = 2, S0 = 99, S1 = 200: D = 301, 90601 / 2 = 45300.5. */
        .name = "just below the middle",
        .width = 1,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){200, 99, 0}},
        .out = {(const uint8_t[]){99, 0, 0, 0}},
    },
    {
        /* t = 0:  w0 = 1, S0 = 0, w1 = 5, S1 = 720: D = 720, 518400 / 5 = 103680.
         * t = 60: w0 = 3, S0 = 120, w1 = 3, S1 = 600: D = 3 * 600 - 3 * 120 = 1440, 2073600 / 9 = 230400. */
        .name = "three values",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){200, 60, 0, 200, 60, 200}},
        .out = {(const uint8_t[]){60, 0, 0, 0}},
    },
    {
        /* t = 0:  w0 = 3, S0 = 0, w1 = 3, S1 = 260: D = 3 * 260 = 780, 608400 / 9 = 67600.
         * t = 60: w0 = 4, S0 = 60, w1 = 2, S1 = 200: D = 4 * 200 - 2 * 60 = 680, 462400 / 8 = 57800. */
        .name = "the middle belongs to the bright",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){0, 100, 0, 60, 0, 100}},
        .out = {(const uint8_t[]){0, 0, 0, 0}},
    },
    {0},
};

static struct algorithm otsu = {
    .name = "otsu",
    .summary = "Otsu's threshold of a gray image, u8 in, one i32 out",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "threshold", .kind = SLOT_MATRIX}},
    .params_size = 0,
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .check_channels = (const int[]){1, 0},
    .goldens = goldens,
    .bench_channels = 1,
    .make_inputs = make_inputs,
};

RUNGS_ALGORITHM(otsu)
