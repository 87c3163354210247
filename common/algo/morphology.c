#include "common/algo/morphology.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const ops[] = {"dilate", "erode", "open", "close", NULL};
static const char *const shapes[] = {"disk", "square", NULL};

static const struct parameter parameters[] = {
    {.name = "op",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct morphology_params, op),
     .maximum = MORPHOLOGY_CLOSE,
     .preset = MORPHOLOGY_DILATE,
     .words = ops,
     .help = "open erodes and then dilates, close dilates and then erodes"},
    {.name = "shape",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct morphology_params, shape),
     .maximum = MORPHOLOGY_SQUARE,
     .preset = MORPHOLOGY_DISK,
     .words = shapes,
     .help = "of the structuring element"},
    {.name = "ksize",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct morphology_params, ksize),
     .minimum = 3,
     .maximum = MORPHOLOGY_MAX_KSIZE,
     .preset = 15,
     .help = "side or diameter of the structuring element in pixels, odd"},
    {0},
};

static enum status finish(void *params_erased)
{
    struct morphology_params *params = params_erased;

    if (params->ksize % 2 == 0)
        return status_set(STATUS_BAD_INPUT, "ksize=%d: must be odd, so that the element has a centre", params->ksize);
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct morphology_params *params = params_erased;

    snprintf(text, size, "op=%s shape=%s ksize=%d", ops[params->op], shapes[params->shape], params->ksize);
}

void morphology_mask(const struct morphology_params *params, uint8_t mask[MORPHOLOGY_MAX_KSIZE * MORPHOLOGY_MAX_KSIZE])
{
    const int radius = params->ksize / 2;

    for (int j = -radius; j <= radius; j++) {
        const int reach = morphology_reach(params->shape, radius, j);
        for (int i = -radius; i <= radius; i++)
            mask[(j + radius) * params->ksize + i + radius] = i >= -reach && i <= reach;
    }
}

int morphology_steps(const struct morphology_params *params, bool erodes[2])
{
    erodes[0] = params->op == MORPHOLOGY_ERODE || params->op == MORPHOLOGY_OPEN;
    erodes[1] = !erodes[0];
    return params->op == MORPHOLOGY_OPEN || params->op == MORPHOLOGY_CLOSE ? 2 : 1;
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "morphology takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "morphology takes 1 channel, not %d", in->channels);
    out->width = in->width;
    out->height = in->height;
    out->channels = in->channels;
    out->type = PIXEL_U8;
    return STATUS_OK;
}

static int radius(const void *params_erased)
{
    const struct morphology_params *params = params_erased;
    bool erodes[2];

    return params->ksize / 2 * morphology_steps(params, erodes);
}

/* Reads each sample once, writes each once. Comparisons: by the chords, the lengths 2, 4 ... up to the longest chord
 * and each different chord once a pixel, then one chord a row of the element. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct morphology_params *params = params_erased;
    const double samples = (double)image_pixel_bytes(in);
    bool erodes[2];
    int comparisons = params->ksize - 1;

    for (int length = 2; length < params->ksize; length *= 2)
        comparisons++;
    for (int j = 0; j < params->ksize / 2 && params->shape == MORPHOLOGY_DISK; j++)
        comparisons += morphology_reach(params->shape, params->ksize / 2, j) !=
                       morphology_reach(params->shape, params->ksize / 2, j + 1);
    (void)out;
    cost->bytes = 2 * samples;
    cost->operations[OPERATION_COMPARISON_8] = comparisons * morphology_steps(params, erodes) * samples;
}

/* -------------------------------------------------------------------------- answers worked out by hand
 * Disks: ksize 3, r = 1: the rows reach 0, 1, 0 (a cross). ksize 5, r = 2: sqrt(4 - 1) = 1.73 -> 2, so 0, 2, 2, 2, 0.
 * ksize 7, r = 3: sqrt(9 - 1) = 2.83 -> 3, sqrt(9 - 4) = 2.24 -> 2, so 0, 2, 3, 3, 3, 2, 0. */

static const struct golden goldens[] = {
    {
        /* The element itself. */
        .name = "disk of 7 from one bright pixel",
        .settings = "op=dilate shape=disk ksize=7",
        .width = 9,
        .height = 8,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, 0,   0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0,   0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0,   0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 201, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0,   0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0,   0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0,   0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0,   0, 0, 0, 0}},
        .out = {(const uint8_t[]){0, 0,   0,   0,   201, 0,   0,   0,   0, /**/
                                  0, 0,   201, 201, 201, 201, 201, 0,   0, /**/
                                  0, 201, 201, 201, 201, 201, 201, 201, 0, /**/
                                  0, 201, 201, 201, 201, 201, 201, 201, 0, /**/
                                  0, 201, 201, 201, 201, 201, 201, 201, 0, /**/
                                  0, 0,   201, 201, 201, 201, 201, 0,   0, /**/
                                  0, 0,   0,   0,   201, 0,   0,   0,   0, /**/
                                  0, 0,   0,   0,   0,   0,   0,   0,   0}},
    },
    {
        /* Erosion of the negative: the same element, dark. */
        .name = "disk of 5 from one dark pixel",
        .settings = "op=erode shape=disk ksize=5",
        .width = 6,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){255, 255, 255, 255, 255, 255, /**/
                                 255, 255, 255, 255, 255, 255, /**/
                                 255, 255, 3,   255, 255, 255, /**/
                                 255, 255, 255, 255, 255, 255, /**/
                                 255, 255, 255, 255, 255, 255}},
        .out = {(const uint8_t[]){255, 255, 3, 255, 255, 255, /**/
                                  3,   3,   3, 3,   3,   255, /**/
                                  3,   3,   3, 3,   3,   255, /**/
                                  3,   3,   3, 3,   3,   255, /**/
                                  255, 255, 3, 255, 255, 255}},
    },
    {
        /* The cross at each pixel: at the corner 10, 20 and 40 count; at (1,0) 10, 20, 30 and 50. */
        .name = "cross over gray values",
        .settings = "op=dilate shape=disk ksize=3",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){10, 20, 30, /**/
                                 40, 50, 5}},
        .out = {(const uint8_t[]){40, 50, 30, /**/
                                  50, 50, 50}},
    },
    {
        /* Outside is ignored: as 0 it would make every pixel 0. Row 0: min(10, 20, 40), min(10, 20, 30, 50),
         * min(20, 30, 5); row 1: min(40, 50, 10), min(40, 50, 5, 20), min(50, 5, 30). */
        .name = "erosion ignores the outside",
        .settings = "op=erode shape=disk ksize=3",
        .width = 3,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){10, 20, 30, /**/
                                 40, 50, 5}},
        .out = {(const uint8_t[]){10, 10, 5, /**/
                                  10, 5, 5}},
    },
    {
        /* The square reaches the corners, where the disk has a cross. */
        .name = "square of 3",
        .settings = "op=dilate shape=square ksize=3",
        .width = 4,
        .height = 4,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, /**/
                                 0, 9, 0, 0, /**/
                                 0, 0, 0, 0, /**/
                                 0, 0, 0, 4}},
        .out = {(const uint8_t[]){9, 9, 9, 0, /**/
                                  9, 9, 9, 0, /**/
                                  9, 9, 9, 4, /**/
                                  0, 0, 4, 4}},
    },
    {
        /* Erosion by 3x3: only the middle of the 3x3 square keeps 8, and (0,0), whose neighbourhood inside the image is
         * not all 8, does not. Dilation gives the square back; the single pixel and the line are gone. */
        .name = "opening removes what the element does not fit in",
        .settings = "op=open shape=square ksize=3",
        .width = 7,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){8, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 8, 8, 8, 0, 0, /**/
                                 0, 0, 8, 8, 8, 0, 0, /**/
                                 0, 0, 8, 8, 8, 0, 0, /**/
                                 8, 0, 0, 0, 0, 0, 8}},
        .out = {(const uint8_t[]){0, 0, 0, 0, 0, 0, 0, /**/
                                  0, 0, 8, 8, 8, 0, 0, /**/
                                  0, 0, 8, 8, 8, 0, 0, /**/
                                  0, 0, 8, 8, 8, 0, 0, /**/
                                  0, 0, 0, 0, 0, 0, 0}},
    },
    {
        /* One row, the cross reaches 1 to each side. Dilated: 7 7 7 7 7 7 0 2 2. Eroded: 7 7 7 7 7 0 0 0 2: the gap of
         * two is closed, and the edge stays, for outside of the image counts neither as dark nor as bright. */
        .name = "closing fills gaps",
        .settings = "op=close shape=disk ksize=3",
        .width = 9,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){0, 7, 0, 0, 7, 0, 0, 0, 2}},
        .out = {(const uint8_t[]){7, 7, 7, 7, 7, 0, 0, 0, 2}},
    },
    {
        /* One column: the rows above and below count, whatever the element's width. min of 3, then max of 3:
         * 5 5 9 6 6 becomes 5 5 5 6 6 and then 5 5 6 6 6. */
        .name = "one column",
        .settings = "op=open shape=disk ksize=3",
        .width = 1,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){5, 5, 9, 6, 6}},
        .out = {(const uint8_t[]){5, 5, 6, 6, 6}},
    },
    {
        /* Nothing else to compare with. */
        .name = "1x1",
        .settings = "op=close shape=square ksize=31",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){77}},
        .out = {(const uint8_t[]){77}},
    },
    {0},
};

/* Besides the default: every op, both shapes, the smallest and the largest element, lengths next to powers of 2 and of
 * 3 (a version that doubles or triples treats them apart), chords of which many differ (31) and few do (5). */
static const char *const check_settings[] = {
    "op=erode",
    "op=close ksize=15",
    "ksize=3",
    "ksize=5 op=erode",
    "ksize=7",
    "ksize=9 op=close",
    "ksize=17",
    "ksize=19 op=erode",
    "ksize=31",
    "ksize=11 op=open",
    "shape=square",
    "shape=square ksize=3 op=open",
    "shape=square ksize=17 op=close",
    "shape=square ksize=31",
    NULL,
};

static struct algorithm morphology = {
    .name = "morphology",
    .summary = "dilation, erosion, opening and closing by a disk or a square, u8, 1 channel",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "picture", .kind = SLOT_PICTURE}},
    .params_size = sizeof(struct morphology_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .goldens = goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(morphology)
