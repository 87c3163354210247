#include "common/algo/correlation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/pattern.h"

void correlation_load(const struct image *in, const struct correlation_params *params, int64_t first, int count,
                      float *panel, int stride)
{
    const float *shift = correlation_shift(in, params);
    const int planes = correlation_planes(in, params), n = in->channels;
    int64_t left = in->width - first % in->width; /* pixels of this row */
    const char *pixel = correlation_pixel(in, first);

    for (int i = 0; i < count; i++, left--, panel += stride, pixel += (size_t)n * pixel_size(in->type)) {
        if (left == 0) {
            left = in->width;
            pixel = correlation_pixel(in, first + i);
        }
        if (in->type == PIXEL_U8)
            for (int k = 0; k < n; k++)
                panel[k] = ((const uint8_t *)pixel)[k];
        else if (in->type == PIXEL_U16)
            for (int k = 0; k < n; k++) {
                panel[k] = (float)(((const uint16_t *)pixel)[k] & 255);
                panel[n + k] = (float)(((const uint16_t *)pixel)[k] >> 8);
            }
        else if (shift)
            for (int k = 0; k < n; k++)
                panel[k] = ((const float *)pixel)[k] - shift[k];
        else
            memcpy(panel, pixel, sizeof *panel * (size_t)n);
        if (params->center)
            panel[planes - 1] = 1;
        for (int k = planes; k < stride; k++)
            panel[k] = 0;
    }
}

void correlation_finish(const double *totals, const struct image *in, const struct correlation_params *params,
                        struct image *out)
{
    for (int u = 0; u < in->channels; u++)
        for (int v = u; v < in->channels; v++) {
            const double entry = correlation_entry(totals, in, params, u, v);
            ((double *)image_row(out, u))[v] = entry;
            ((double *)image_row(out, v))[u] = entry;
        }
}

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const types[] = {"f32", "u8", "u16", NULL};

static const struct parameter parameters[] = {
    {.name = "center",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct correlation_params, center),
     .minimum = 0,
     .maximum = 1,
     .preset = 0,
     .help = "0: correlation, 1: covariance (the mean spectrum is taken off)"},
    {.name = "type",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct correlation_params, type),
     .words = types,
     .preset = 0,
     .help = "samples of a cube that is made up; a file has its own"},
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct correlation_params *params = params_erased;

    snprintf(text, size, "center=%d type=%s", params->center, types[params->type]);
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (in->type != PIXEL_U8 && in->type != PIXEL_U16 && in->type != PIXEL_F32)
        return status_set(STATUS_BAD_INPUT, "correlation takes u8, u16 or f32 samples, not %s", pixel_name(in->type));
    if (in->channels > CORRELATION_MAX_BANDS)
        return status_set(STATUS_BAD_INPUT, "correlation takes at most %d bands, not %d", CORRELATION_MAX_BANDS,
                          in->channels);
    if ((int64_t)in->width * in->height > INT32_MAX)
        return status_set(STATUS_BAD_INPUT, "correlation takes at most 2^31-1 pixels, not %dx%d", in->width,
                          in->height);
    out->width = out->height = in->channels;
    out->channels = 1;
    out->type = PIXEL_F64;
    return STATUS_OK;
}

static enum status check_values(const struct image in[], const void *params)
{
    (void)params;
    for (int64_t i = 0; in->type == PIXEL_F32 && i < (int64_t)in->width * in->height; i++) {
        const float *pixel = correlation_pixel(in, i);
        for (int k = 0; k < in->channels; k++)
            if (!(fabsf(pixel[k]) <= 0x1p50f))
                return status_set(STATUS_BAD_INPUT, "pixel (%lld,%lld), band %d is %g: correlation takes up to 2^50",
                                  (long long)i % in->width, (long long)i / in->width, k, (double)pixel[k]);
    }
    return STATUS_OK;
}

/* Reads the cube once; a product for each pair of bands, also of a band with itself, and pixel. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const enum operation operation = in->type == PIXEL_U8    ? OPERATION_MULTIPLY_ADD_8
                                     : in->type == PIXEL_U16 ? OPERATION_MULTIPLY_ADD_16
                                                             : OPERATION_MULTIPLY_ADD_F32;

    (void)out, (void)params;
    cost->bytes = (double)image_pixel_bytes(in) + 8.0 * in->channels * in->channels;
    cost->operations[operation] = 0.5 * in->channels * (in->channels + 1.0) * in->width * in->height;
}

/* --------------------------------------------------------------------------------------------- comparison */

/* The largest difference as a share of what the contract allows; what must be exact and is not is infinitely far
 * off. */
static double share_of_bound(const struct property_case *item)
{
    const struct image *in = item->in, *e = item->expected, *a = item->actual;
    const struct correlation_params *params = item->params;
    const int n = in->channels;
    const int64_t pixels = (int64_t)in->width * in->height;
    const float *shift = correlation_shift(in, params);
    double *power = calloc((size_t)n, sizeof *power), worst = 0;

    if (!power)
        return NAN;
    for (int64_t i = 0; in->type == PIXEL_F32 && i < pixels; i++) {
        const float *pixel = correlation_pixel(in, i);
        for (int k = 0; k < n; k++) {
            const double value = (double)pixel[k] - (shift ? shift[k] : 0);
            power[k] += value * value / (double)pixels;
        }
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++) {
            const double difference = fabs(image_sample(e, v, u, 0) - image_sample(a, v, u, 0));
            const double share = difference == 0 ? 0 : difference / (0x1p-12 * sqrt(power[u] * power[v]) + 0x1p-100);
            if (!(share <= worst))
                worst = share;
            if (isnan(share))
                u = v = n;
        }
    free(power);
    return worst;
}

/* ------------------------------------------------------------------------------------------------- inputs */

static void put(struct image *cube, int64_t pixel, int band, double value)
{
    void *samples = (void *)correlation_pixel(cube, pixel);

    if (cube->type == PIXEL_U8)
        ((uint8_t *)samples)[band] = (uint8_t)(255 * value);
    else if (cube->type == PIXEL_U16)
        ((uint16_t *)samples)[band] = (uint16_t)(65535 * value);
    else
        ((float *)samples)[band] = (float)value;
}

static double uniform(uint64_t *state)
{
    return (double)(pattern_random(state) >> 11) * 0x1p-53;
}

/* Three known spectra, smooth over the bands, in shares that add up to 1, and 1 % noise: what a real cube is like. The
 * matrix has three large eigenvalues. */
static void fill_mixture(struct image *cube, uint64_t seed)
{
    const int64_t pixels = (int64_t)cube->width * cube->height;

    for (int64_t i = 0; i < pixels; i++) {
        const double a = uniform(&seed), b = (1 - a) * uniform(&seed), c = 1 - a - b;
        for (int k = 0; k < cube->channels; k++) {
            const double at = (k + 0.5) / cube->channels, noise = 0.01 * uniform(&seed);
            const double hill = exp(-20 * (at - 0.3) * (at - 0.3)), slope = at, valley = 1 - 0.8 * sin(3.1 * at);
            put(cube, i, k, 0.98 * (a * hill + b * slope + c * valley) + noise);
        }
    }
}

/* Every band has one value, a little above 1, which 10 bits of a mantissa cannot hold and which one f32 sum over all
 * pixels loses. Its covariance is 0. */
static void fill_constant(struct image *cube)
{
    for (int64_t i = 0; i < (int64_t)cube->width * cube->height; i++)
        for (int k = 0; k < cube->channels; k++)
            put(cube, i, k, cube->type == PIXEL_F32 ? 1 + 0x1p-11 + k * 0x1p-7 : (k % 7 + 1) / 8.0);
}

/* A mean of 1000 and a deviation of 1: squares in f32 minus the square of the mean leave nothing of the covariance. */
static void fill_offset(struct image *cube, uint64_t seed)
{
    for (int64_t i = 0; i < (int64_t)cube->width * cube->height; i++)
        for (int k = 0; k < cube->channels; k++)
            put(cube, i, k, 1000 + k + uniform(&seed));
}

/* The largest sample or the one below: sums of products are odd as often as even, so that an f32 sum beyond 2^24
 * shows. */
static void fill_nearly_largest(struct image *cube, uint64_t seed)
{
    for (int64_t i = 0; i < (int64_t)cube->width * cube->height; i++)
        for (int k = 0; k < cube->channels; k++) {
            const uint64_t least = pattern_random(&seed) >> 63;
            put(cube, i, k, 1 - ((double)least - 0.5) / (cube->type == PIXEL_U8 ? 255 : 65535));
        }
}

static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type chosen[] = {PIXEL_F32, PIXEL_U8, PIXEL_U16};
    const struct correlation_params *params = request->params;
    const char *hard = request->hard_case ? request->hard_case : "";
    const enum pixel_type type = params ? chosen[params->type] : PIXEL_F32;
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], request->width, request->height, request->channels, type));
    if (hard[0] == 'm')
        fill_mixture(in, request->seed);
    else if (hard[0] == 'c')
        fill_constant(in);
    else if (hard[0] == 'o')
        fill_offset(in, request->seed);
    else if (hard[0] == 'n')
        fill_nearly_largest(in, request->seed);
    else
        pattern_fill(in, hard[0] == 'l' ? PATTERN_MAXIMUM : request->pattern, request->seed);
out:
    return status;
}

/* 2064 pixels of 65 bands: with 8 multiprocessors several panels a block of every GPU version, the last one not full,
 * and no gap behind a row of floats, so that they are read as one row. */
static const int mixtures[][3] = {{31, 13, 31}, {5, 3, 198}, {48, 43, 65}, {0}};
static const int manies[][3] = {{300, 221, 2}, {0}}; /* 66,300 pixels: u8 sums pass 2^32 */
/* 17 runs of 16 pixels a warp: beyond 2^24. 33 bands are one warp's, 57 a block's. */
static const int runs[][3] = {{300, 221, 2}, {257, 128, 33}, {257, 128, 57}, {0}};
/* Of 9 to 16 bands of bytes a vector has four pixels: a lane of 32 bits takes 16,578 steps of its largest products,
 * those of four threads are some 17,000 each. */
static const int longs[][3] = {{740, 369, 9}, {0}};
static const int fews[][3] = {{61, 37, 3}, {0}};
/* 3 and 4 whole numbers a pixel, which a version may take apart from others, 4096 pixels of a row at a time: several
 * such runs in a row, with sums of u8 products beyond 2^32. */
static const int wides[][3] = {{16411, 5, 3}, {16411, 5, 4}, {0}}, wide_rows[][3] = {{4099, 3, 3}, {4099, 3, 4}, {0}};
static const int singles[][3] = {{1, 1, 198}, {1, 1, 257}, {0}};

static const struct hard_case hard_cases[] = {
    {.name = "mixture of three spectra", .shapes = mixtures},
    {.name = "mixture of three spectra", .shapes = mixtures, .settings = "center=1"},
    {.name = "mixture of three spectra", .shapes = mixtures, .settings = "center=1 type=u16"},
    {.name = "constant bands", .shapes = fews},
    {.name = "constant bands", .shapes = manies, .settings = "center=1"},
    {.name = "constant bands", .shapes = fews, .settings = "center=1 type=u16"},
    {.name = "offset of 1000", .shapes = fews, .settings = "center=1"},
    {.name = "largest samples", .shapes = manies, .settings = "type=u8"},
    {.name = "largest samples", .shapes = manies, .settings = "type=u16 center=1"},
    {.name = "nearly the largest samples", .shapes = runs, .settings = "type=u8"},
    {.name = "nearly the largest samples", .shapes = longs, .settings = "type=u8"},
    {.name = "nearly the largest samples", .shapes = wides, .settings = "type=u8"},
    {.name = "mixture of three spectra", .shapes = wide_rows, .settings = "center=1 type=u16"},
    {.name = "largest samples", .shapes = singles, .settings = "type=u16"},
    {0},
};

static const char *const check_settings[] = {
    "type=u8", "type=u16", "center=1", "type=u16 center=1", "type=u8 center=1", "center=1 type=f32", NULL,
};

/* Single pixels and rows, bands about the widths of vectors and of tiles, pixel counts that no block divides. The
 * products of pixels and pairs of bands count, for every version and setting, so that cubes of many bands are of few
 * pixels. */
static const int check_shapes[][3] = {
    {1, 1, 1},   {97, 1, 3},  {67, 11, 3}, {13, 7, 2},   {5, 61, 6},  {17, 15, 4},  {64, 3, 8}, {23, 9, 7},
    {17, 3, 16}, {13, 5, 17}, {31, 5, 31}, {65, 1, 33},  {8, 3, 64},  {3, 7, 65},   {5, 3, 81}, {2, 3, 156},
    {7, 1, 198}, {1, 2, 257}, {515, 2, 2}, {1300, 1, 3}, {600, 1, 6}, {321, 1, 31}, {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

static const enum pixel_type whole8[] = {PIXEL_U8}, whole16[] = {PIXEL_U16};

static const struct golden goldens[] = {
    {
        .name = "1x1, 1 band",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {GOLDEN_SAMPLES(float, 0.5f)},
        .out = {GOLDEN_SAMPLES(double, 0.25)},
    },
    {
        /* (1 1 + 3 3) / 2, (1 2 + 3 4) / 2, (2 2 + 4 4) / 2 */
        .name = "two bands",
        .width = 2,
        .height = 1,
        .channels = 2,
        .in = {GOLDEN_SAMPLES(float, 1, 2, 3, 4)},
        .out = {GOLDEN_SAMPLES(double, 5, 7, 7, 10)},
    },
    {
        /* The means are 2 and 3, every difference from them is 1. */
        .name = "two bands, covariance",
        .settings = "center=1",
        .width = 1,
        .height = 2,
        .channels = 2,
        .in = {GOLDEN_SAMPLES(float, 1, 2, 3, 4)},
        .out = {GOLDEN_SAMPLES(double, 1, 1, 1, 1)},
    },
    {
        /* Third band: -1, 0, 1, 0. 1 -1 + 2 0 + 3 1 + 6 0 = 2; 4 4 = 16 pixels' worth of constants. */
        .name = "three bands, a constant and a negative one",
        .width = 2,
        .height = 2,
        .channels = 3,
        .in = {GOLDEN_SAMPLES(float, 1, 4, -1, /**/ 2, 4, 0, /**/ 3, 4, 1, /**/ 6, 4, 0)},
        .out = {GOLDEN_SAMPLES(double, 12.5, 12, 0.5, /**/ 12, 16, 0, /**/ 0.5, 0, 0.5)},
    },
    {
        /* (255^2 + 0) / 2, (255 1 + 0) / 2, (1 + 1) / 2 */
        .name = "u8",
        .settings = "type=u8",
        .width = 2,
        .height = 1,
        .channels = 2,
        .types = whole8,
        .in = {GOLDEN_SAMPLES(uint8_t, 255, 1, 0, 1)},
        .out = {GOLDEN_SAMPLES(double, 32512.5, 127.5, 127.5, 1)},
    },
    {
        /* 65535^2 = 4294836225 twice, over 2; 65535 (258 + 0) / 2; 258^2 / 2 */
        .name = "u16",
        .settings = "type=u16",
        .width = 2,
        .height = 1,
        .channels = 2,
        .types = whole16,
        .in = {GOLDEN_SAMPLES(uint16_t, 65535, 258, 65535, 0)},
        .out = {GOLDEN_SAMPLES(double, 4294836225.0, 8454015, 8454015, 33282)},
    },
    {
        /* A constant band has no covariance; that of 258 and 0 is 129^2. */
        .name = "u16, covariance",
        .settings = "type=u16 center=1",
        .width = 2,
        .height = 1,
        .channels = 2,
        .types = whole16,
        .in = {GOLDEN_SAMPLES(uint16_t, 65535, 258, 65535, 0)},
        .out = {GOLDEN_SAMPLES(double, 0, 0, 0, 16641)},
    },
    {0},
};

static struct algorithm correlation = {
    .name = "correlation",
    .summary = "correlation or covariance matrix of a spectral image, u8, u16 or f32 in, f64 out",
    .inputs =
        {{.name = "cube", .kind = SLOT_TENSOR, .type = PIXEL_F32, .help = "height x width x bands", .pixels = true}},
    .outputs = {{.name = "matrix",
                 .kind = SLOT_MATRIX,
                 .help = "bands x bands",
                 .comparison = {.tolerance = 1,
                                .property = share_of_bound,
                                .property_name = "largest error as a share of what rounding explains",
                                .near_reference = true}}},
    .params_size = sizeof(struct correlation_params),
    .parameters = parameters,
    .shape = shape,
    .check_values = check_values,
    .cost = cost,
    .describe = describe,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_settings = check_settings,
    .check_shapes = check_shapes,
    .goldens = goldens,
    .bench_channels = 31,
    .bench_shape = (const int[]){1024, 1024, 31},
};

RUNGS_ALGORITHM(correlation)
