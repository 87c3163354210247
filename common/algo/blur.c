#include "common/algo/blur.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------------------------- parameters */

static const struct parameter parameters[] = {
    {.name = "ksize",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct blur_params, ksize),
     .minimum = 3,
     .maximum = BLUR_MAX_KSIZE,
     .preset = 15,
     .help = "side of the square kernel in pixels, odd"},
    {.name = "sigma",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct blur_params, sigma),
     .minimum = 0,
     .maximum = 100,
     .preset = 0,
     .help = "standard deviation in pixels, 0.1 to 100; 0 = 0.3*((ksize-1)*0.5 - 1) + 0.8"},
    {0},
};

static enum status finish(void *params_erased)
{
    struct blur_params *params = params_erased;

    if (params->ksize % 2 == 0)
        return status_set(STATUS_BAD_INPUT, "ksize=%d: must be odd, so that the kernel has a centre", params->ksize);
    if (params->sigma == 0)
        params->sigma = 0.3 * ((params->ksize - 1) * 0.5 - 1) + 0.8;
    else if (params->sigma < 0.1)
        return status_set(STATUS_BAD_INPUT, "sigma=%g: must be 0.1 to 100, or 0 to derive it from ksize",
                          params->sigma);
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct blur_params *params = params_erased;

    snprintf(text, size, "ksize=%d sigma=%g", params->ksize, params->sigma);
}

void blur_weights(const struct blur_params *params, uint16_t weights[BLUR_MAX_KSIZE])
{
    const int one = 1 << BLUR_WEIGHT_BITS, radius = (params->ksize - 1) / 2;
    double real[BLUR_MAX_KSIZE / 2 + 1], sum = 1, carried = 0;
    int left = one;

    for (int i = 0; i < radius; i++) {
        double distance = i - radius;
        real[i] = exp(-distance * distance / (2 * params->sigma * params->sigma));
        sum += 2 * real[i];
    }
    for (int i = 0; i < radius; i++) {
        double wanted = real[i] / sum * one + carried;
        int weight = (int)lrint(wanted);
        carried = wanted - weight;
        weights[i] = weights[params->ksize - 1 - i] = (uint16_t)weight;
        left -= 2 * weight;
    }
    weights[radius] = (uint16_t)left;
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "blur takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1 && in->channels != 3)
        return status_set(STATUS_BAD_INPUT, "blur takes 1 or 3 channels, not %d", in->channels);
    out->width = in->width;
    out->height = in->height;
    out->channels = in->channels;
    out->type = PIXEL_U8;
    return STATUS_OK;
}

static int radius(const void *params)
{
    return (((const struct blur_params *)params)->ksize - 1) / 2;
}

/* Reads each sample once, writes each once; the separable form needs ksize products along x and ksize along y. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const double samples = (double)image_pixel_bytes(in);

    (void)out;
    cost->bytes = 2 * samples;
    cost->operations[OPERATION_MULTIPLY_ADD_8] = 2.0 * ((const struct blur_params *)params)->ksize * samples;
}

/* -------------------------------------------------------------------------- answers worked out by hand
 * ksize=3 sigma=0.85: exp(-1 / (2 * 0.7225)) = 0.5006; 256 * 0.5006 / (1 + 2 * 0.5006) = 64.03, so the weights are
 * 64, 128, 64, which is 1/4, 1/2, 1/4. */

static const struct golden goldens[] = {
    {
        /* 200 * 65536 / 65536, whatever the weights are: their sum is 256 and the border repeats. */
        .name = "constant",
        .settings = "ksize=15",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200}},
        .out = {(const uint8_t[]){200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200}},
    },
    {
        /* The kernel itself, times 255: 255/16 = 15.94 -> 16, 255/8 = 31.88 -> 32, 255/4 = 63.75 -> 64. */
        .name = "bright pixel in the middle",
        .settings = "ksize=3 sigma=0.85",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0,   0, 0, /**/
                                 0, 0, 0,   0, 0, /**/
                                 0, 0, 255, 0, 0, /**/
                                 0, 0, 0,   0, 0, /**/
                                 0, 0, 0,   0, 0}},
        .out = {(const uint8_t[]){0, 0,  0,  0,  0, /**/
                                  0, 16, 32, 16, 0, /**/
                                  0, 32, 64, 32, 0, /**/
                                  0, 16, 32, 16, 0, /**/
                                  0, 0,  0,  0,  0}},
    },
    {
        /* Along each axis the corner counts with 1/2 + 1/4 (its copy outside) at 0 and with 1/4 at 1:
         * 255 * 9/16 = 143.44 -> 143, 255 * 3/16 = 47.81 -> 48, 255 * 1/16 = 15.94 -> 16. */
        .name = "bright pixel in the corner",
        .settings = "ksize=3 sigma=0.85",
        .width = 4,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){255, 0, 0, 0, /**/
                                 0, 0, 0, 0,   /**/
                                 0, 0, 0, 0}},
        .out = {(const uint8_t[]){143, 48, 0, 0, /**/
                                  48, 16, 0, 0,  /**/
                                  0, 0, 0, 0}},
    },
    {
        /* Every tap reads the one pixel: 77 * 65536 / 65536. */
        .name = "1x1",
        .settings = "ksize=31",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){77}},
        .out = {(const uint8_t[]){77}},
    },
    {
        /* One row: along y all three taps read the same sample, so 1/4, 1/2, 1/4 along x is all there is:
         * 100/4 = 25, 100/2 = 50, 100/4 = 25, 255/4 = 63.75 -> 64, 255 * 3/4 = 191.25 -> 191. */
        .name = "one row",
        .settings = "ksize=3 sigma=0.85",
        .width = 5,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0, 100, 0, 0, 255}},
        .out = {(const uint8_t[]){25, 50, 25, 64, 191}},
    },
    {
        /* The same along y. */
        .name = "one column",
        .settings = "ksize=3 sigma=0.85",
        .width = 1,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 100, 0, 0, 255}},
        .out = {(const uint8_t[]){25, 50, 25, 64, 191}},
    },
    {
        /* R is 255 0 0: 255 * 3/4 = 191.25 -> 191, 255/4 = 63.75 -> 64, 0. G is 0 200 0: 50, 100, 50. B stays 10. */
        .name = "channels apart",
        .settings = "ksize=3 sigma=0.85",
        .width = 3,
        .height = 1,
        .channels = 3,
        .in = {(const uint8_t[]){255, 0, 10, 0, 200, 10, 0, 0, 10}},
        .out = {(const uint8_t[]){191, 50, 10, 64, 100, 10, 0, 50, 10}},
    },
    {
        /* 2 * 1/4 = 0.5 exactly -> 1; 2 * 1/2 = 1. */
        .name = "half rounds up",
        .settings = "ksize=3 sigma=0.85",
        .width = 5,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 2, 0, 0}},
        .out = {(const uint8_t[]){0, 1, 1, 1, 0}},
    },
    {
        /* 6/16 = 0.375 -> 0, 6/8 = 0.75 -> 1, 6/4 = 1.5 -> 2. Rounded after each axis, the corners would become 1:
         * 6/4 = 1.5 -> 2, 2/4 = 0.5 -> 1. */
        .name = "one rounding, at the end",
        .settings = "ksize=3 sigma=0.85",
        .width = 3,
        .height = 3,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, /**/
                                 0, 6, 0, /**/
                                 0, 0, 0}},
        .out = {(const uint8_t[]){0, 1, 0, /**/
                                  1, 2, 1, /**/
                                  0, 1, 0}},
    },
    {
        /* exp(-1 / 0.02) = 2e-22: the weights are 0 0 0 0 256 0 0 0 0, and the image comes back. */
        .name = "sigma near nothing",
        .settings = "ksize=9 sigma=0.1",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){1, 255, 0, 128, 127, 254}},
        .out = {(const uint8_t[]){1, 255, 0, 128, 127, 254}},
    },
    {
        /* ksize=5, so sigma = 0.3 * (2 - 1) + 0.8 = 1.1 and exp(-d^2 / 2.42) is 1, 0.6615, 0.1915 for d = 0, 1, 2, in
         * all 2.7060. 256 * 0.1915 / 2.7060 = 18.12 -> 18, carry 0.12; 62.58 + 0.12 = 62.70 -> 63; the centre is left
         * with 256 - 2 * 18 - 2 * 63 = 94. Times 255/256: 17.93 -> 18, 62.75 -> 63, 93.63 -> 94. */
        .name = "derived sigma",
        .settings = "ksize=5",
        .width = 7,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 255, 0, 0, 0}},
        .out = {(const uint8_t[]){0, 18, 63, 94, 63, 18, 0}},
    },
    {0},
};

/* Besides the default: every shape of kernel that a vectorised version may treat by itself (small, one more than a
 * multiple of 4 and 8, largest), weights that do not fit in 7 or 8 bits (sigma=0.1: 0 256 0; sigma=0.4: 11 234 11),
 * weights that are all but equal (sigma=100), and a sum whose tails do not vanish (sigma=4.6). */
static const char *const check_settings[] = {
    "ksize=3",
    "ksize=5",
    "ksize=7",
    "ksize=9",
    "ksize=13",
    "ksize=17",
    "ksize=19",
    "ksize=23",
    "ksize=27",
    "ksize=31",
    "ksize=3 sigma=0.1",
    "ksize=5 sigma=0.4",
    "ksize=31 sigma=0.1",
    "ksize=31 sigma=100",
    "ksize=15 sigma=4.6",
    NULL,
};

static struct algorithm blur = {
    .name = "blur",
    .summary = "Gaussian blur, u8, 1 or 3 channels, border replicated",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "blurred", .kind = SLOT_PICTURE}},
    .params_size = sizeof(struct blur_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 3, 0},
    .goldens = goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(blur)
