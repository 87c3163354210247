#include "common/algo/kmeans.h"

#include <math.h>
#include <stdio.h>

#include "common/algo/kmeans/cases.h"

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const starts[] = {"plusplus", "rows", NULL};
static const char *const types[] = {"u16", "u8", "f32", NULL};

/* check draws values up to `most`, 0: of the whole range. */
#define INT_CHECKED(field, low, high, normal, most, text)                                                              \
    {                                                                                                                  \
        .name = #field, .kind = PARAMETER_INT, .offset = offsetof(struct kmeans_params, field), .minimum = low,        \
        .maximum = high, .preset = normal, .check_maximum = most, .help = text                                         \
    }
#define INT(field, low, high, normal, text) INT_CHECKED(field, low, high, normal, 0, text)

static const struct parameter parameters[] = {
    INT(k, 1, KMEANS_MAX_K, 16, "clusters"),
    INT_CHECKED(iterations, 1, 10000, 10, 4, "updates of the centroids, at most"),
    {.name = "tolerance",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct kmeans_params, tolerance),
     .maximum = 1e9,
     .help = "ends once no centroid moves farther than this"},
    {.name = "start",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct kmeans_params, start),
     .words = starts,
     .help = "first centroids: k-means++, or rows at equal distances"},
    INT(seed, 0, 1e9, 1, "of k-means++"),
    INT_CHECKED(attempts, 1, 16, 1, 3, "starts, of which the best result counts"),
    {.name = "type",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct kmeans_params, type),
     .words = types,
     .help = "samples of rows that are made up; a file has its own"},
    INT_CHECKED(batch, 0, 65536, 0, 0, "rows drawn for an update; 0: all"),
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct kmeans_params *params = params_erased;

    snprintf(text, size, "k=%d iterations=%d tolerance=%g start=%s seed=%d attempts=%d type=%s batch=%d", params->k,
             params->iterations, params->tolerance, starts[params->start], params->seed, params->attempts,
             types[params->type], params->batch);
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct kmeans_params *params = params_erased;
    const int features = kmeans_features(in);

    if (in->type != PIXEL_U8 && in->type != PIXEL_U16 && in->type != PIXEL_F32)
        return status_set(STATUS_BAD_INPUT, "kmeans takes u8, u16 or f32 samples, not %s", pixel_name(in->type));
    if (features > KMEANS_MAX_FEATURES)
        return status_set(STATUS_BAD_INPUT, "kmeans takes at most %d features, not %d", KMEANS_MAX_FEATURES, features);
    if (kmeans_row_count(in) > INT32_MAX)
        return status_set(STATUS_BAD_INPUT, "kmeans takes at most 2^31-1 rows, not %dx%d", in->width, in->height);
    if (kmeans_row_count(in) < params->k)
        return status_set(STATUS_BAD_INPUT, "k=%d clusters need as many rows; there are %d", params->k,
                          (int)kmeans_row_count(in));
    out[KMEANS_CENTROIDS] = (struct image){.width = features, .height = params->k, .channels = 1, .type = PIXEL_F32};
    out[KMEANS_LABELS] = (struct image){
        .width = in->channels == 1 ? 1 : in->width, .height = in->height, .channels = 1, .type = PIXEL_I32};
    out[KMEANS_INERTIA] =
        (struct image){.width = 1, .height = params->iterations + 1, .channels = 1, .type = PIXEL_F64};
    return STATUS_OK;
}

static enum status check_values(const struct image in[], const void *params)
{
    const int features = kmeans_features(in);

    (void)params;
    for (int64_t i = 0; in->type == PIXEL_F32 && i < kmeans_row_count(in); i++) {
        const float *row = kmeans_row(in, i);
        for (int f = 0; f < features; f++)
            if (!isfinite(row[f]))
                return status_set(STATUS_BAD_INPUT, "row %lld, feature %d is %s; kmeans takes finite numbers",
                                  (long long)i, f, isnan(row[f]) ? "NaN" : "infinite");
    }
    return STATUS_OK;
}

/* Reads the rows in each assignment; a product for each row, centroid and feature. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct kmeans_params *params = params_erased;
    const double share = (double)params->batch / (double)kmeans_row_count(in);
    const double assignments = (params->batch > 0 ? params->iterations * share : params->iterations) + 1;
    const enum operation operation = in->type == PIXEL_F32 ? OPERATION_MULTIPLY_ADD_F32 : OPERATION_MULTIPLY_ADD_16;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in) * assignments + 4.0 * (double)kmeans_row_count(in);
    cost->operations[operation] = assignments * params->k * (double)kmeans_row_count(in) * kmeans_features(in);
}

static struct algorithm kmeans = {
    .name = "kmeans",
    .summary = "k-means clustering of rows of features, with centroids, labels and inertia",
    .inputs = {{.name = "rows",
                .kind = SLOT_TENSOR,
                .type = PIXEL_U16,
                .help = "one feature vector a pixel, or a row",
                .pixels = true}},
    .outputs =
        {{.name = "centroids", .kind = SLOT_MATRIX, .help = "k x features"},
         {.name = "labels", .kind = SLOT_MATRIX, .help = "cluster of each row, from 0", .names = true, .pixels = true},
         {.name = "inertia", .kind = SLOT_MATRIX, .help = "sum of squared distances after each assignment"}},
    .params_size = sizeof(struct kmeans_params),
    .parameters = parameters,
    .shape = shape,
    .check_values = check_values,
    .cost = cost,
    .describe = describe,
    .make_inputs = kmeans_make_inputs,
    .hard_cases = kmeans_hard_cases,
    .check_settings = kmeans_check_settings,
    .check_shapes = kmeans_check_shapes,
    .goldens = kmeans_goldens,
    .bench_channels = 256,
    .bench_shape = (const int[]){252, 189, 256},
};

RUNGS_ALGORITHM(kmeans)
