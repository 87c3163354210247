#include "common/algo/ntf/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/ntf.h"

/* ------------------------------------------------------------------------------------------------- inputs */

static double uniform(uint64_t *state)
{
    return (double)(pattern_random(state) >> 11) * 0x1p-53;
}

/* By hard case: "of rank 4 with noise" has four components of which each is 0 in a third of its places, and 1 % noise;
 * "of one sample" is 0 but for one; "dark" is of some 1e-6, "bright" near the largest samples that are legal. */
enum status ntf_make_inputs(const struct input_request *request, struct image in[])
{
    enum { RANK = 4 };
    const struct ntf_params *params = request->params;
    const char *hard = request->hard_case ? request->hard_case : "";
    const int sides[3] = {request->height, request->width, request->channels};
    const double scale = hard[0] == 'd' ? 1e-6 : hard[0] == 'b' ? 0x1p39 : 0.25;
    uint64_t seed = request->seed;
    double *parts[3] = {NULL};
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], request->width, request->height, request->channels,
                     params && params->type == 1 ? PIXEL_U8 : PIXEL_F32));
    pattern_fill(in, hard[0] ? PATTERN_ZERO : request->pattern, request->seed);
    if (strstr(hard, "one sample"))
        image_set_sample(&in[0], request->width / 2, request->height / 2, request->channels / 2, 200);
    if (!strstr(hard, "rank 4"))
        return status;
    for (int mode = 0; mode < 3; mode++) {
        parts[mode] = malloc(sizeof(double) * RANK * (size_t)sides[mode]);
        if (!parts[mode]) {
            status = status_set(STATUS_NO_MEMORY, "no memory for a tensor");
            goto out;
        }
        for (int i = 0; i < RANK * sides[mode]; i++)
            parts[mode][i] = fmax(1.5 * uniform(&seed) - 0.5, 0);
    }
    for (int r = 0; r < sides[0]; r++)
        for (int s = 0; s < sides[1]; s++)
            for (int t = 0; t < sides[2]; t++) {
                double sum = 0.01 * uniform(&seed);
                for (int k = 0; k < RANK; k++)
                    sum += parts[0][r * RANK + k] * parts[1][s * RANK + k] * parts[2][t * RANK + k];
                image_set_sample(&in[0], s, r, t, (in->type == PIXEL_U8 ? 255 * 0.25 : scale) * sum);
            }
out:
    for (int mode = 0; mode < 3; mode++)
        free(parts[mode]);
    if (status != STATUS_OK)
        image_free(&in[0]);
    return status;
}

static const int usual[][3] = {{12, 21, 10}, {0}}, many[][3] = {{13, 22, 12}, {0}};
static const int slices[][3] = {{2, 530, 2}, {530, 2, 2}, {2, 2, 530}, {0}};
static const int single[][3] = {{1, 1, 1}, {1, 61, 1}, {67, 1, 1}, {1, 1, 131}, {1, 40, 9}, {0}};
static const int small[][3] = {{9, 10, 11}, {0}};

const struct hard_case ntf_hard_cases[] = {
    {.name = "of rank 4 with noise", .shapes = usual, .settings = "iterations=12"},
    {.name = "of rank 4 with noise", .shapes = many, .settings = "type=u8 rank=20 iterations=2"},
    {.name = "of rank 4 with noise", .shapes = small, .settings = "update=damped iterations=8"},
    {.name = "of rank 4 with noise", .shapes = small, .settings = "tolerance=0.02 iterations=20"},
    {.name = "of rank 4 with noise", .shapes = small, .settings = "target=0.3 iterations=20"},
    {.name = "of rank 4 with noise", .shapes = slices, .settings = "iterations=1"},
    {.name = "of one sample", .shapes = small},
    {.name = "dark, of rank 4", .shapes = small},
    {.name = "bright, of rank 4", .shapes = small},
    {.name = "of rank 4 with noise", .shapes = single, .settings = "rank=1 iterations=2"},
    {0},
};

const char *const ntf_check_settings[] = {"type=u8", "rank=16 iterations=2", "update=damped", "approx=0 rank=3", NULL};

/* S, R, T: tiles that are full and not, one long side in each place, and all of them short. The second is the first
 * that is neither small nor flat: values of parameters are tried on it, and its rank can be 100. */
const int ntf_check_shapes[][3] = {
    {2, 2, 2}, {10, 13, 13}, {4, 1, 9}, {17, 15, 8}, {3, 6, 70}, {5, 40, 7}, {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

static const enum pixel_type whole8[] = {PIXEL_U8};

const struct golden ntf_goldens[] = {
    {
        /* u = (2, 6); then v = (2 2 + 6 6) / 40 = 1 and w = 1. */
        .name = "a column",
        .settings = "rank=1 seed=0 iterations=2",
        .width = 1,
        .height = 2,
        .channels = 1,
        .in = {GOLDEN_SAMPLES(float, 2, 6)},
        .out = {GOLDEN_SAMPLES(float, 2, 6), GOLDEN_SAMPLES(float, 2, 6), GOLDEN_SAMPLES(float, 1),
                GOLDEN_SAMPLES(float, 1), GOLDEN_SAMPLES(double, 0, 0)},
    },
    {
        /* u = (1 + 2, 3 + 4) / 2; u'u = 14.5; v = (1.5 1 + 3.5 3, 1.5 2 + 3.5 4) / 14.5; w = 1; the error is
         * (30 - (12 12 + 17 17) / 14.5) / 30 = 2 / 435, squared. */
        .name = "a matrix",
        .settings = "rank=1 seed=0 iterations=1 type=u8",
        .width = 2,
        .height = 2,
        .channels = 1,
        .types = whole8,
        .in = {GOLDEN_SAMPLES(uint8_t, 1, 2, 3, 4)},
        .out = {GOLDEN_SAMPLES(float, 1.2413793f, 1.7586207f, 2.8965517f, 4.1034483f),
                GOLDEN_SAMPLES(float, 1.5f, 3.5f), GOLDEN_SAMPLES(float, 0.82758621f, 1.1724138f),
                GOLDEN_SAMPLES(float, 1), GOLDEN_SAMPLES(double, 0.067806350)},
    },
    {
        /* From equal columns equal ones come: each is half of 4. */
        .name = "two columns alike, no approx",
        .settings = "rank=2 seed=0 iterations=1 approx=0",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {GOLDEN_SAMPLES(float, 4, 4, 4, 4)},
        .out = {NULL, GOLDEN_SAMPLES(float, 2, 2, 2, 2), GOLDEN_SAMPLES(float, 1, 1, 1, 1), GOLDEN_SAMPLES(float, 1, 1),
                GOLDEN_SAMPLES(double, 0)},
    },
    {
        /* N = 8, D = 1, and 2 is the cube root: all three become 2. The first error is (8 - 1) / 8. */
        .name = "damped",
        .settings = "rank=1 seed=0 iterations=2 update=damped",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {GOLDEN_SAMPLES(float, 8)},
        .out = {GOLDEN_SAMPLES(float, 8), GOLDEN_SAMPLES(float, 2), GOLDEN_SAMPLES(float, 2), GOLDEN_SAMPLES(float, 2),
                GOLDEN_SAMPLES(double, 0.875, 0)},
    },
    {0},
};
