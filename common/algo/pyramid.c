#include "common/algo/pyramid.h"

#include <math.h>
#include <stdio.h>

#include "common/contract/inputs.h"

static const struct parameter parameters[] = {
    {.name = "scale",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct pyramid_params, scale),
     .minimum = 1.1,
     .maximum = 4,
     .preset = 1.2,
     .help = "from one level to the next"},
    {.name = "window",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pyramid_params, window),
     .minimum = 1,
     .maximum = 1024,
     .preset = 24,
     .help = "smallest side of a level in pixels"},
    {.name = "fill",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pyramid_params, fill),
     .maximum = 255,
     .preset = 0,
     .help = "value of pixels in no level"},
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct pyramid_params *params = params_erased;

    snprintf(text, size, "scale=%g window=%d fill=%d", params->scale, params->window, params->fill);
}

/* -------------------------------------------------------------------------------------------------- the layout */

/* Puts a level onto the first shelf with room for it. `ends` are the shelves' free columns, `tops` their first rows and
 * the row below the last shelf. */
static void place(struct pyramid_level *level, int total, int ends[], int tops[], int *shelves)
{
    int shelf = 0;

    while (shelf < *shelves && (ends[shelf] + level->width > total || tops[shelf] + level->height > tops[shelf + 1]))
        shelf++;
    if (shelf == *shelves) {
        ends[shelf] = 0;
        tops[shelf + 1] = tops[shelf] + level->height;
        ++*shelves;
    }
    level->x = ends[shelf];
    level->y = tops[shelf];
    ends[shelf] += level->width;
}

void pyramid_lay_out(int width, int height, const struct pyramid_params *params, struct pyramid_layout *layout)
{
    int ends[PYRAMID_MAX_LEVELS], tops[PYRAMID_MAX_LEVELS + 1] = {0}, shelves = 0;
    double factor = 1;

    *layout = (struct pyramid_layout){.width = width};
    for (int l = 0; l < PYRAMID_MAX_LEVELS; l++, factor *= params->scale) {
        struct pyramid_level *level = &layout->levels[l];

        if (factor >= IMAGE_MAX_SIDE)
            break;
        level->step = (uint32_t)lround(65536 * factor);
        level->width = (int)(((uint64_t)width << 16) / level->step);
        level->height = (int)(((uint64_t)height << 16) / level->step);
        if (l > 0 && (level->width < params->window || level->height < params->window))
            break;
        while (level->source < l - 1 && level->step > 2 * (uint64_t)layout->levels[level->source].step)
            level->source++;
        level->relative = (uint32_t)(((uint64_t)level->step << 16) / layout->levels[level->source].step);
        place(level, width, ends, tops, &shelves);
        layout->count = l + 1;
    }
    layout->height = tops[shelves];
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

static enum status shape(const struct image in[], const void *params, struct image *out)
{
    struct pyramid_layout layout;

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "pyramid takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "pyramid takes 1 channel (gray), not %d", in->channels);
    pyramid_lay_out(in->width, in->height, params, &layout);
    if (layout.height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "pyramid: %d rows, more than the %d that a picture may have", layout.height,
                          IMAGE_MAX_SIDE);
    *out = (struct image){.width = layout.width, .height = layout.height, .channels = 1, .type = PIXEL_U8};
    return STATUS_OK;
}

/* A pixel of a level is the result of pixels from anywhere in the input. */
static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads the input and writes the pyramid. Three blends of two pixels for one. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    struct pyramid_layout layout;

    (void)out;
    pyramid_lay_out(in->width, in->height, params, &layout);
    cost->bytes = (double)in->width * in->height + (double)layout.width * layout.height;
    for (int l = 1; l < layout.count; l++)
        cost->operations[OPERATION_MULTIPLY_ADD_16] += 6.0 * layout.levels[l].width * layout.levels[l].height;
}

/* ------------------------------------------------------------------------------------ answers worked out by hand */

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

static const struct golden goldens[] = {
    {
        .name = "1x1",
        .settings = "window=1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {BYTES(200)},
        .out = {BYTES(200)},
    },
    {
        /* Twice the step: u = (2x + 1) 65536 - 32768, i = 2x, a = 128: means of 2 x 2. (0 + 2 + 4 + 7) / 4 = 3.25, (10
         * + 20 + 30 + 42) / 4 = 25.5, rounded up. Level 2 is the mean of both rows of level 1; there is but one row, so
         * j + 1 is j, and one column is left: (3 + 26) / 2 = 14.5. But its height is 0: there is no level 2. */
        .name = "halved",
        .settings = "scale=2 window=1 fill=9",
        .width = 4,
        .height = 2,
        .channels = 1,
        .in = {BYTES(0, 2, 10, 20, /**/
                     4, 7, 30, 42)},
        .out = {BYTES(0, 2, 10, 20, /**/
                      4, 7, 30, 42, /**/
                      3, 26, 9, 9)},
    },
    {
        /* step(1) = 98304, width 2: u(0) = 49152 - 32768 = 16384: i = 0, a = 64; u(1) = 147456 - 32768 = 114688: i = 1,
         * a = 192. Rows 0 and 100 weigh 3 to 1: 25, and the second row 1 to 3. Columns alike. (0,0): 0.75 * 0 + 0.25 *
         * 100 = 25 in each row, and the rows are equal. (1,0): 0.25 * 100 + 0.75 * 200 = 175. Level 2, step 147456,
         * width 1, from level 0 is 2.25 > 2, so from level 1 with r = 1.5: u = 16384, a = 64: 25 * 0.75 + 175 * 0.25 =
         * 62.5. It fits behind level 1, whose shelf is 3 wide. */
        .name = "by one and a half",
        .settings = "scale=1.5 window=1 fill=9",
        .width = 3,
        .height = 3,
        .channels = 1,
        .in = {BYTES(0, 100, 200, /**/
                     0, 100, 200, /**/
                     0, 100, 200)},
        .out = {BYTES(0, 100, 200, /**/
                      0, 100, 200, /**/
                      0, 100, 200, /**/
                      25, 175, 63, /**/
                      25, 175, 9)},
    },
    {0},
};

static const char *const check_settings[] = {"scale=1.1 window=1", "scale=2 window=4", "scale=4 window=1 fill=255",
                                             "scale=1.37 window=9", NULL};

/* A level begins 1 to 3 columns behind a multiple of 4 and has 126 to 128 columns up to the end of its shelf, so that
 * whole words from that multiple on take a column more than it has. */
static const int shifted_shapes[][3] = {{221, 16, 1}, {225, 16, 1}, {330, 16, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {.name = "levels that begin inside a word",
     .shapes = shifted_shapes,
     .settings = "scale=1.37 window=1",
     .further = true},
    {0},
};

static struct algorithm pyramid = {
    .name = "pyramid",
    .summary = "multi-resolution pyramid, u8 gray: a picture and its smaller copies in one picture",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "pyramid", .kind = SLOT_PICTURE, .help = "all levels, the input first"}},
    .params_size = sizeof(struct pyramid_params),
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .hard_cases = hard_cases,
    .check_settings = check_settings,
    .check_channels = (const int[]){1, 0},
    .goldens = goldens,
    .bench_channels = 1,
};

RUNGS_ALGORITHM(pyramid)
