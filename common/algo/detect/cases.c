#include "common/algo/detect/cases.h"

#include <math.h>

#include "common/algo/detect.h"
#include "common/contract/inputs.h"

/* --------------------------------------------------------------------------------------------------- inputs */

/* How dark a drawn face is at (u, v), both -1 to 1 across it: eyes and mouth on an oval, 0 beside it. */
static int face_value(double u, double v)
{
    if (u * u + v * v > 1)
        return 0;
    if (hypot((fabs(u) - 0.4) * 1.5, (v + 0.25) * 2.2) < 0.28 || hypot(u * 0.9, (v - 0.55) * 3) < 0.33)
        return 60;
    return hypot(u * 3, v - 0.1) < 0.3 ? 215 : 190;
}

/* drawn: faces of several sizes on a gray that changes slowly, with a little noise. What is drawn passes many stages,
 * and most of it is found. */
enum status detect_make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type types[] = {PIXEL_U8};
    uint64_t state = request->seed;
    enum status status = inputs_make_pictures(request, types, 1, in);

    for (int y = 0; status == STATUS_OK && request->hard_case && y < in->height; y++) {
        uint8_t *row = image_row(in, y);

        for (int x = 0; x < in->width; x++) {
            const int size = 26 + 12 * (x / 64 % 3), centre = x / 64 * 64 + 32;
            const int face = face_value((x - centre) * 2.2 / size, (y % 64 - 32) * 1.8 / size);

            row[x] = (uint8_t)((face ? face : 90 + (x + 2 * y) / 4 % 64) + (int)(pattern_random(&state) % 8));
        }
    }
    return status;
}

static const int drawn_shapes[][3] = {{192, 64, 1}, {2051, 26, 1}, {26, 2051, 1}, {0}};
static const int long_shapes[][3] = {{4290, 26, 1}, {26, 4290, 1}, {0}};

const struct hard_case detect_hard_cases[] = {
    {.name = "drawn", .shapes = drawn_shapes},
    {.name = "drawn",
     .shapes = long_shapes,
     .settings = "stages=8 min_response=-1000 scale=2"}, /* coordinates of more than 12 bits */
    {0},
};

/* Smaller than the window, as large, one more; one level and several; more than a vector or a tile of windows along
 * either side, and no multiple of them. */
const int detect_check_shapes[][3] = {
    {1, 1, 1},   {1, 61, 1},  {67, 1, 1},  {24, 24, 1}, {23, 40, 1},  {40, 25, 1}, {31, 33, 1},
    {55, 31, 1}, {56, 32, 1}, {65, 40, 1}, {97, 61, 1}, {130, 27, 1}, {27, 90, 1}, {0},
};

/* ------------------------------------------------------------------------------------ answers worked out by hand
 * The model hand.model (tests/test_detect.c makes it) has a window of 6 pixels and two stages. Both compare the upper
 * left cell of 2 x 2 pixels (a = 0) with the one at the lower right (b = 8): table 1 is bin - 8, table 2 is (bin - 8) /
 * 4, both thresholds are 0. rectangles.model is one of haar with as large a window: stage 1 compares its left half with
 * the right one, stage 2 its quarters crosswise; table 1 is bin - 32, table 2 is (bin - 32) / 4, both thresholds are
 * -10.
 */

#define FLOATS(...)                                                                                                    \
    (const uint8_t *)(const float[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define RECTANGLES "model=common/algo/detect/rectangles.model "
#define HAND       "model=common/algo/detect/hand.model "

const struct golden detect_goldens[] = {
    {
        .name = "smaller than the window",
        .settings = HAND "maximum=1 min_score=0",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){200}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), FLOATS(0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {
        /* One window, at (0,0). Means of the cells, rounded half up: upper left (9 + 9 + 9 + 7) / 4 = 8.5, which is 9,
         * all others 0 but the one at the lower right, (4 + 4 + 4 + 2) / 4 = 3.5, which is 4. R(0) = 8, R(8) = 7: bin
         * 9, H = 1 + 0.25. Level 1 would be 5 pixels wide. */
        .name = "one window",
        .settings = HAND "maximum=2 neighbours=1 min_response=-1 min_score=2.25",
        .width = 6,
        .height = 6,
        .channels = 1,
        .in = {(const uint8_t[]){9, 9, 0, 0, 0, 0, /**/
                                 9, 7, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 4, 4, /**/
                                 0, 0, 0, 0, 4, 2}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, 0, 6, 6, 2.25, 0, 0, 0, 0, 0), FLOATS(1, 0, 0, 0, 0, 0, 0, 1.25, 0, 0, 0, 0)},
    },
    {
        /* Windows at x = 0, 1, 2. Upper left cells: 80, 40, 0. At 0: R(0) = 8 and R(8) = 0: H = 8 + 2. At 1: the second
         * column of ones is in the cell: 8 again. At 2: all cells 0: bin 8, H = 0, not below 0. The boxes of 0 and 1
         * share 30 of 42 pixels, those of 0 and 2 24 of 48, not more than one half: two detections, the second of one
         * hit. Level 1: step 78643, 6 x 5. */
        .name = "three windows, two groups",
        .settings = HAND "maximum=3 neighbours=1 overlap=0.5 min_response=0 min_score=0",
        .width = 8,
        .height = 6,
        .channels = 1,
        .in = {(const uint8_t[]){80, 80, 0, 0, 0, 0, 0, 0, /**/
                                 80, 80, 0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0}},
        .out = {FLOATS(2, 0, 0, 0, 0, 0, 0, 6, 6, 20, 2, 0, 6, 6, 0, 0, 0, 0, 0, 0),
                FLOATS(3, 0, 0, 0, 0, 0, 0, 10, 1, 0, 0, 10, 2, 0, 0, 0)},
    },
    {
        /* The same with at least two hits in a detection, hits of more than 0, and room for one: the first in raster
         * order stays, alone. */
        .name = "room for one",
        .settings = HAND "maximum=1 min_response=0.5 min_score=0",
        .width = 8,
        .height = 6,
        .channels = 1,
        .in = {(const uint8_t[]){80, 80, 0, 0, 0, 0, 0, 0, /**/
                                 80, 80, 0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0, /**/
                                 0,  0,  0, 0, 0, 0, 0, 0}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), FLOATS(1, 0, 0, 0, 0, 0, 0, 10)},
    },
    {
        /* The left half is 10 brighter than the right one, 18 pixels each: D = 180. S = 180, Q = 1800: sqrt(36 1800 -
         * 180^2) = 180, and 8 180 36 / (18 180) = 16, two standard deviations. The quarters cancel out: D = 0. H =
         * 16. */
        .name = "halves",
        .settings = RECTANGLES "maximum=1 neighbours=1 min_response=0 min_score=0",
        .width = 6,
        .height = 6,
        .channels = 1,
        .in = {(const uint8_t[]){10, 10, 10, 0, 0, 0, /**/
                                 10, 10, 10, 0, 0, 0, /**/
                                 10, 10, 10, 0, 0, 0, /**/
                                 10, 10, 10, 0, 0, 0, /**/
                                 10, 10, 10, 0, 0, 0, /**/
                                 10, 10, 10, 0, 0, 0}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, 0, 6, 6, 16), FLOATS(1, 0, 0, 0, 0, 0, 0, 16)},
    },
    {
        /* S = 9, Q = 81: sqrt(36 81 - 81) = 53.2, so 53. Stage 1: -8 9 36 / (18 53) = -2.7, so bin 29; stage 2: 8 9 36
         * / (9 53) = 5.4, bin 37. H = -3 + 1.25. */
        .name = "a quotient below 0",
        .settings = RECTANGLES "maximum=1 neighbours=1 min_response=-5 min_score=3.25",
        .width = 6,
        .height = 6,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 9}},
        .out = {FLOATS(1, 0, 0, 0, 0, 0, 0, 6, 6, 3.25), FLOATS(1, 0, 0, 0, 0, 0, 0, -1.75)},
    },
    {
        /* H falls below the threshold: R(0) = 0, R(8) = 8: bin 0, H = -8. */
        .name = "rejected",
        .settings = HAND "maximum=1 min_response=-100",
        .width = 6,
        .height = 6,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 5, 5, 5, 5, /**/
                                 0, 0, 5, 5, 5, 5, /**/
                                 5, 5, 5, 5, 5, 5, /**/
                                 5, 5, 5, 5, 5, 5, /**/
                                 5, 5, 5, 5, 9, 9, /**/
                                 5, 5, 5, 5, 9, 9}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), FLOATS(0, 0, 0, 0, 0, 0, 0, 0)},
    },
    {0},
};

/* Few stages let many windows through: more than fit in the table, from every vector and every warp. */
const char *const detect_check_settings[] = {"stages=1 min_response=-1000",
                                             "stages=3 min_response=-1000 maximum=4096 scale=1.1 overlap=0.5",
                                             "stages=8 min_response=-1000 maximum=7 neighbours=3",
                                             "stages=20 min_response=-1000 scale=1.5 neighbours=1 min_score=0",
                                             HAND "overlap=0 maximum=50 min_response=0 min_score=0",
                                             HAND "stages=1 scale=4 overlap=1 min_response=2 min_score=6 neighbours=1",
                                             NULL};
