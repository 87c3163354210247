#include "common/algo/kmeans/cases.h"

#include "common/algo/kmeans.h"

/* -------------------------------------------------------------------------------------------------- inputs */

/* Rows around a few centres, one in 16 anywhere, as far apart as the pattern says. */
static void fill_clusters(struct image *rows, uint64_t seed, double spread, double largest)
{
    enum { CENTRES = 7 };
    const int features = kmeans_features(rows);

    for (int64_t i = 0; i < kmeans_row_count(rows); i++) {
        void *row = (void *)kmeans_row(rows, i);
        uint64_t centre = 1000 + pattern_random(&seed) % CENTRES;
        const bool stray = pattern_random(&seed) % 16 == 0;
        for (int f = 0; f < features; f++) {
            const double at = (double)(pattern_random(&centre) >> 40) / (1 << 24);
            const double noise = (double)(pattern_random(&seed) >> 40) / (1 << 24);
            const double value = largest * (stray ? noise : (1 - spread) * at + spread * noise);
            if (rows->type == PIXEL_U8)
                ((uint8_t *)row)[f] = (uint8_t)value;
            else if (rows->type == PIXEL_U16)
                ((uint16_t *)row)[f] = (uint16_t)value;
            else
                ((float *)row)[f] = (float)(value - 0.4 * largest);
        }
    }
}

enum status kmeans_make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type chosen[] = {PIXEL_U16, PIXEL_U8, PIXEL_F32};
    const struct kmeans_params *params = request->params;
    const enum pixel_type type = params ? chosen[params->type] : PIXEL_U16;
    const char *hard = request->hard_case ? request->hard_case : "";
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], request->width, request->height, request->channels, type));
    if (hard[0] == 'l')
        pattern_fill(in, PATTERN_RANDOM, request->seed);
    else if (request->pattern == PATTERN_RANDOM) /* histograms of 256 pixels: 9 a bin; pixels; 1e4, negative ones too */
        fill_clusters(in, request->seed, 0.3, type == PIXEL_U16 ? 9 : type == PIXEL_U8 ? 255 : 1e4);
    else
        pattern_fill(in, request->pattern, request->seed);
out:
    return status;
}

static const int large[][3] = {{13, 19, 64}, {5, 300, 1}, {0}};

static const int many[][3] = {{257, 256, 2}, {0}}; /* more than 65,536 rows */

const struct hard_case kmeans_hard_cases[] = {
    {.name = "many rows", .shapes = many, .settings = "k=2 iterations=1 start=rows"},
    {.name = "large samples", .shapes = large},
    {.name = "large samples", .shapes = large, .settings = "type=u8 k=5"},
    {.name = "large samples", .shapes = large, .settings = "type=f32 k=3"},
    {.name = "a batch of more rows than there are", .shapes = large, .settings = "type=u8 k=5 batch=5000 iterations=3"},
    {0},
};

const char *const kmeans_check_settings[] = {"k=3 type=u8 iterations=4",
                                             "k=2 type=f32 iterations=4 tolerance=0.3",
                                             "k=5 attempts=2 seed=7 iterations=3",
                                             "k=4 batch=7 iterations=4 attempts=2",
                                             "k=3 batch=300 type=f32 iterations=3",
                                             NULL};

/* Few rows, the shape that settings are tried on, more rows than a block has, an array of two dimensions, histograms,
 * and the most features. */
const int kmeans_check_shapes[][3] = {
    {20, 1, 3}, {11, 12, 9}, {67, 11, 3}, {129, 50, 1}, {9, 7, 256}, {5, 5, 1024}, {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

static const enum pixel_type bytes[] = {PIXEL_U8}, floats[] = {PIXEL_F32};

const struct golden kmeans_goldens[] = {
    {
        /* The first centroids are rows 0 and 2, 0 and 10. 0 1 to the first, 10 12 to the second: 1 + 4 = 5. Then 0.5
         * and 11: 4 (1/2)^2 with both moved; nothing changes any more. */
        .name = "two pairs",
        .settings = "k=2 start=rows iterations=3 type=u8",
        .width = 1,
        .height = 4,
        .channels = 1,
        .types = bytes,
        .in = {GOLDEN_SAMPLES(uint8_t, 0, 1, 10, 12)},
        .out = {GOLDEN_SAMPLES(float, 0.5f, 11), GOLDEN_SAMPLES(int32_t, 0, 0, 1, 1),
                GOLDEN_SAMPLES(double, 5, 2.5, 2.5, 2.5)},
    },
    {
        /* Rows of a batch are 0 or 10, whichever are drawn, and so are the centroids from the start on: 0. With eight
         * rows both occur, or one cluster keeps its row. */
        .name = "batches of two values",
        .settings = "k=2 start=rows iterations=2 type=u8 batch=8",
        .width = 1,
        .height = 4,
        .channels = 1,
        .types = bytes,
        .in = {GOLDEN_SAMPLES(uint8_t, 0, 0, 10, 10)},
        .out = {GOLDEN_SAMPLES(float, 0, 10), GOLDEN_SAMPLES(int32_t, 0, 0, 1, 1), GOLDEN_SAMPLES(double, 0, 0, 0)},
    },
    {
        /* Rows 0, 1 and 2 are the same, and so are the first two centroids, 4 and 4 and 9 (row floor(2 4 / 3) = 2 is 4
         * as well): all rows take the first. Its mean is 21 / 4 = 5.25; clusters 1 and 2 take the farthest rows, 9 with
         * 25, then row 0, with 0. Rows 0 to 2 then join cluster 2, row 3 cluster 1. */
        .name = "empty clusters",
        .settings = "k=3 start=rows iterations=1 type=f32",
        .width = 1,
        .height = 4,
        .channels = 1,
        .types = floats,
        .in = {GOLDEN_SAMPLES(float, 4, 4, 4, 9)},
        .out = {GOLDEN_SAMPLES(float, 5.25f, 9, 4), GOLDEN_SAMPLES(int32_t, 2, 2, 2, 1), GOLDEN_SAMPLES(double, 25, 0)},
    },
    {
        /* The mean of 0, 0 and 1 is 64 / 3 = 21.33 in 64ths, so 21; of 3 0 0, 64. Distances 2 21^2 + 43^2 = 2731 and
         * 2 64^2 + 128^2 = 24576, in 64ths squared. At first the centroid is (0, 3): 0 + 9 + 1 + 9. */
        .name = "rounded means of two features",
        .settings = "k=1 start=rows iterations=1 type=u8",
        .width = 1,
        .height = 3,
        .channels = 2,
        .types = bytes,
        .in = {GOLDEN_SAMPLES(uint8_t, 0, 3, /**/ 0, 0, /**/ 1, 0)},
        .out = {GOLDEN_SAMPLES(float, 21 / 64.f, 1), GOLDEN_SAMPLES(int32_t, 0, 0, 0),
                GOLDEN_SAMPLES(double, 19, (2731 + 24576) / 4096.)},
    },
    {0},
};
