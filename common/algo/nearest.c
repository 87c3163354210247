#include "common/algo/nearest.h"

#include <stdio.h>

#include "common/image/pattern.h"

/* Means of histograms of 256 pixels, whose bins are rounded to f32. */
static const double largest_sum = 260;

static const struct parameter parameters[] = {{0}};

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status check_centroid_shape(const struct image *centroids)
{
    if (centroids->type != PIXEL_F32 || centroids->channels != 1)
        return status_set(STATUS_BAD_INPUT, "centroids must be an f32 matrix, not %s of %d channels",
                          pixel_name(centroids->type), centroids->channels);
    if (centroids->width != LBP_BINS)
        return status_set(STATUS_BAD_INPUT, "centroids of %d components; histograms have %d bins", centroids->width,
                          LBP_BINS);
    if (centroids->height > NEAREST_MAX_K)
        return status_set(STATUS_BAD_INPUT, "%d centroids, at most %d are possible", centroids->height, NEAREST_MAX_K);
    return STATUS_OK;
}

enum status nearest_check_centroids(const struct image *centroids)
{
    enum status status = STATUS_OK;

    TRY(check_centroid_shape(centroids));
    for (int j = 0; j < centroids->height; j++) {
        const float *c = nearest_centroid(centroids, j);
        double sum = 0;
        for (int f = 0; f < LBP_BINS; f++) {
            if (!(c[f] >= 0))
                return status_set(STATUS_BAD_INPUT, "centroid %d, component %d is %g: no mean of counts", j, f,
                                  (double)c[f]);
            sum += (double)c[f];
        }
        if (!(sum <= largest_sum))
            return status_set(STATUS_BAD_INPUT, "centroid %d adds up to %g; a patch has at most 256 pixels", j, sum);
    }
out:
    return status;
}

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    enum status status = STATUS_OK;

    (void)params;
    if (in[0].type != PIXEL_U16 || in[0].channels != LBP_BINS)
        return status_set(STATUS_BAD_INPUT, "nearest takes u16 histograms of %d bins, not %s of %d channels", LBP_BINS,
                          pixel_name(in[0].type), in[0].channels);
    if (in[0].width > IMAGE_MAX_SIDE || in[0].height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "%dx%d patches: nearest takes at most %d a side", in[0].width, in[0].height,
                          IMAGE_MAX_SIDE);
    TRY(check_centroid_shape(&in[1]));
    out->width = in[0].width;
    out->height = in[0].height;
    out->channels = 1;
    out->type = PIXEL_U8;
out:
    return status;
}

static enum status check_values(const struct image in[], const void *params)
{
    (void)params;
    for (int row = 0; row < in[0].height; row++)
        for (int column = 0; column < in[0].width; column++) {
            const uint16_t *bins = lbp_bins(&in[0], row, column);
            long sum = 0;
            for (int i = 0; i < LBP_BINS; i++)
                sum += bins[i];
            if (sum > 256)
                return status_set(STATUS_BAD_INPUT,
                                  "histogram (%d, %d) adds up to %ld; nearest takes patches of at most 256 "
                                  "pixels",
                                  row, column, sum);
        }
    return nearest_check_centroids(&in[1]);
}

/* Reads histograms and centroids once. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const double patches = (double)in[0].width * in[0].height;

    (void)out, (void)params;
    cost->bytes = (double)image_pixel_bytes(&in[0]) + (double)image_pixel_bytes(&in[1]) + patches;
    cost->operations[OPERATION_MULTIPLY_ADD_16] = patches * in[1].height * LBP_BINS;
}

/* -------------------------------------------------------------------------------------------------- inputs */

/* Histograms of 256 pixels of a few kinds of texture: most pixels in a few bins. channels is how many centroids. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    const char *hard = request->hard_case ? request->hard_case : "";
    uint64_t seed = request->seed;
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], request->width, request->height, LBP_BINS, PIXEL_U16));
    TRY(array_create(&in[1], LBP_BINS, request->channels, 1, PIXEL_F32));
    image_fill(&in[0], 0);
    image_fill(&in[1], 0);
    for (int row = 0; row < in[0].height; row++)
        for (int column = 0; column < in[0].width; column++) {
            uint16_t *bins = lbp_bins(&in[0], row, column);
            const uint64_t kind = pattern_random(&seed) % 8;
            for (int i = 0; i < 256; i++) {
                const uint64_t random = pattern_random(&seed);
                bins[kind == 0 || request->pattern == PATTERN_ZERO ? 255 : random % (kind * kind * 4) + 2 * kind]++;
            }
        }
    for (int j = 0; j < in[1].height; j++) {
        float *centroid = (float *)image_row(&in[1], j);
        const uint64_t kind = hard[0] == 't' ? (uint64_t)j / 3 % 2 : pattern_random(&seed) % 8;
        const int steps = j % 2 ? 2560 : 256; /* tenths of a pixel, or whole ones */
        for (int i = 0; i < steps; i++) {
            const uint64_t random = hard[0] == 't' ? (uint64_t)i : pattern_random(&seed);
            centroid[kind == 0 ? 255 : random % (kind * kind * 4) + 2 * kind] += 256.f / (float)steps;
        }
    }
out:
    if (status != STATUS_OK) {
        image_free(&in[0]);
        image_free(&in[1]);
    }
    return status;
}

static const int ties[][3] = {{13, 7, 6}, {20, 3, 40}, {0}};
static const struct hard_case hard_cases[] = {{.name = "ties", .shapes = ties}, {0}};

/* Width, height, centroids. */
static const int check_shapes[][3] = {{1, 1, 1},   {1, 61, 2},  {67, 1, 3},   {5, 7, 16},   {16, 16, 17}, {31, 3, 32},
                                      {9, 33, 64}, {17, 5, 65}, {13, 4, 256}, {252, 9, 16}, {0}};

/* -------------------------------------------------------------------------- answers worked out by hand */

static const struct golden goldens[] = {
    {
        /* Twice the same centroid, then the one that fits the second histogram: 4 pixels in bin 7 instead of 9. The
         * third is as far, 4 + 4, from both kinds: the lower wins. */
        .name = "ties to the lower",
        .width = 3,
        .height = 1,
        .channels = LBP_BINS,
        .shapes = {{3, 1, LBP_BINS}, {LBP_BINS, 3, 1}},
        .in = {(const uint8_t *)(const uint16_t[3 * LBP_BINS]){
                   [9] = 4, [LBP_BINS + 7] = 4, [2 * LBP_BINS + 7] = 2, [2 * LBP_BINS + 9] = 2},
               (const uint8_t *)(const float[3 * LBP_BINS]){[9] = 4, [LBP_BINS + 9] = 4, [2 * LBP_BINS + 7] = 4}},
        .out = {(const uint8_t[]){0, 2, 0}},
    },
    {
        /* 0.49 / 64 rounds to 0, so that both centroids are all 0; 0.5 / 64 rounds to 1, nearer to what has a pixel. */
        .name = "rounded to 1/64",
        .width = 1,
        .height = 1,
        .channels = LBP_BINS,
        .shapes = {{1, 1, LBP_BINS}, {LBP_BINS, 3, 1}},
        .in = {(const uint8_t *)(const uint16_t[LBP_BINS]){[0] = 1},
               (const uint8_t *)(const float[3 * LBP_BINS]){
                   [1] = 0, [LBP_BINS] = 0.49f / 64, [2 * LBP_BINS] = 0.5f / 64}},
        .out = {(const uint8_t[]){2}},
    },
    {0},
};

static struct algorithm nearest = {
    .name = "nearest",
    .summary = "the nearest centroid of each histogram, u16 and f32 in, u8 out",
    .inputs = {{.name = "histograms", .kind = SLOT_TENSOR, .type = PIXEL_U16, .help = "rows x columns x 256"},
               {.name = "centroids", .kind = SLOT_MATRIX, .type = PIXEL_F32, .help = "k x 256"}},
    .outputs = {{.name = "labels", .kind = SLOT_MATRIX, .help = "rows x columns", .names = true}},
    .parameters = parameters,
    .shape = shape,
    .check_values = check_values,
    .cost = cost,
    .radius = radius,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_shapes = check_shapes,
    .goldens = goldens,
    .bench_channels = 16,
    .bench_shape = (const int[]){252, 189, 16},
};

RUNGS_ALGORITHM(nearest)
