#include "common/algo/harris/cases.h"

#include <string.h>

#include "common/algo/harris.h"
#include "common/contract/inputs.h"

/* --------------------------------------------------------------------------------------------------- inputs */

/* Of two pixels in a square of 16 x 16, the second four rows below the first and two columns beside it or none. */
static bool is_of_pair(int x, int y)
{
    const int beside = x / 16 % 3 * 2 - 2;

    return (y % 16 == 4 && x % 16 == 8) || (y % 16 == 8 && x % 16 == 8 + beside);
}

/* steep: stripes two pixels wide, black and white, along both diagonals of 2 x 2 cells: the largest gradients that
 * there are. tiles: squares of 8 x 8, whose corners all have the same responses, in plateaus. dots: single pixels of
 * one of two values, so that strengths tie and corners lie near each other. last: faint ones, and in the last eighth of
 * the rows strong ones, which alone decide what is strong enough. heavy: 8 x 8 pixels again and again, around whose
 * fourth of the fourth row a Gaussian of 5 gives a c > 2^53, which a double rounds. stripes: three pixels wide along
 * one diagonal, so that gx = gy and a = b = c; a Gaussian of 5 makes 1539 * 255^2 of them on all but every third
 * diagonal, whose square is odd and above 2^53. pairs: with a radius of 4 and more
 * the first of each two counts. */
enum status harris_make_inputs(const struct input_request *request, struct image in[])
{
    static const uint8_t heavy[] = {0x07, 0x01, 0x31, 0x39, 0x19, 0x98, 0x98, 0xc3};
    static const enum pixel_type types[] = {PIXEL_U8};
    uint64_t state = request->seed;
    enum status status = inputs_make_pictures(request, types, 1, in);

    for (int y = 0; status == STATUS_OK && request->hard_case && y < in->height; y++) {
        uint8_t *row = image_row(in, y);
        for (int x = 0; x < in->width; x++) {
            const bool odd = strcmp(request->hard_case, "steep") == 0     ? (x + (y / 64 % 2 ? y : -y + 65536)) / 2 % 2
                             : strcmp(request->hard_case, "tiles") == 0   ? (x / 8 + y / 8) % 2
                             : strcmp(request->hard_case, "heavy") == 0   ? heavy[y % 8] >> (7 - x % 8) & 1
                             : strcmp(request->hard_case, "stripes") == 0 ? (x + y) % 6 < 3
                             : strcmp(request->hard_case, "pairs") == 0   ? is_of_pair(x, y)
                                                                          : pattern_random(&state) % 64 == 0;
            row[x] = !odd                                      ? 0
                     : strcmp(request->hard_case, "dots") == 0 ? (uint8_t)(200 + 55 * (x / 4 % 2))
                     : strcmp(request->hard_case, "last") == 0 && y < in->height - in->height / 8 ? 40
                                                                                                  : 255;
        }
    }
    return status;
}

static const int hard_shapes[][3] = {{64, 48, 1}, {2051, 9, 1}, {9, 2051, 1}, {0}};
static const int small_shapes[][3] = {{64, 48, 1}, {0}};
static const int tall_shapes[][3] = {{7, 4099, 1}, {0}};
static const int large_shapes[][3] = {{97, 89, 1}, {301, 277, 1}, {0}};
/* With this k the response lies so near the middle of two floats that det, wrong by 1, makes another one of it. */
#define HEAVY "window=gaussian size=5 scale=raw k=0.04999999742490676 outputs=response"
/* det is 0, and so is the response without k: a product that is rounded and one that is not, as a fused multiplication
 * and subtraction has them, leave 1 or -1. */
#define FUSED "window=gaussian size=5 scale=raw k=0 outputs=response"
const struct hard_case harris_hard_cases[] = {
    {.name = "steep", .shapes = small_shapes, .settings = "window=box size=31 scale=raw"},
    {.name = "steep", .shapes = hard_shapes},
    {.name = "tiles", .shapes = hard_shapes, .settings = "maximum=20"},
    {.name = "tiles", .shapes = large_shapes, .settings = "radius=4 distance=12.5"},
    {.name = "dots", .shapes = large_shapes},
    {.name = "heavy", .shapes = small_shapes, .settings = HEAVY},
    {.name = "stripes", .shapes = small_shapes, .settings = FUSED},
    {.name = "last", .shapes = tall_shapes, .settings = "outputs=corners gradient=central"},
    {.name = "dots", .shapes = large_shapes, .settings = "gradient=central distance=9 maximum=65534 outputs=corners"},
    {.name = "pairs", .shapes = large_shapes, .settings = "radius=5", .further = true},
    {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand
 * A pixel of value 1 at (2, 2) on black: around it gx is 1 2 1 to the left and -1 -2 -1 to the right, gy 1 2 1 above
 * and
 * -1 -2 -1 below, so gx^2, gy^2 and gx gy are
 *
 *     1 0 1     1 4 1     1 0 -1
 *     4 0 4     0 0 0     0 0  0
 *     1 0 1     1 4 1    -1 0  1
 */

#define FLOATS(...)                                                                                                    \
    (const uint8_t *)(const float[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const uint8_t dot[] = {0, 0, 0, 0, 0, /**/
                              0, 0, 0, 0, 0, /**/
                              0, 0, 1, 0, 0, /**/
                              0, 0, 0, 0, 0, /**/
                              0, 0, 0, 0, 0};

const struct golden harris_goldens[] = {
    {
        .name = "1x1",
        .settings = "maximum=1",
        .width = 1,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){200}},
        .out = {FLOATS(0), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        /* Left and right of a pixel stands the same one, reflected: all gradients are 0. */
        .name = "2x2",
        .settings = "maximum=1",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {(const uint8_t[]){0, 255, 255, 255}},
        .out = {FLOATS(0, 0, 0, 0), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        /* Above and below stands the row itself: gy, b and c are 0, det is 0, and the response -a^2 / 8. gx is 4 times
         * 0 9 9 -9 0, so gx^2 is 0 or 1296; of three rows alike the window adds up 2, 2, 3, 2 and 2 that are not 0, for
         * the first and the last column see their neighbour twice: a is 7776 and 11664. */
        .name = "a row of five",
        .settings = "k=0.125 scale=raw maximum=1",
        .width = 5,
        .height = 1,
        .channels = 1,
        .in = {(const uint8_t[]){1, 1, 10, 10, 1}},
        .out = {FLOATS(-7558272, -7558272, -17006112, -7558272, -7558272), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        .name = "constant",
        .settings = "quality=0 maximum=1",
        .width = 5,
        .height = 4,
        .channels = 1,
        .in = {(const uint8_t[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
        .out = {FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), FLOATS(0, 0, 0, 0, 0, 0)},
    },
    {
        /* At (2,2) a = c = 12, b = 0: 144 - 24^2 / 8 = 72. At (2,1) a = 10, c = 6, b = 0: 60 - 16^2 / 8 = 28. At (1,1)
         * a = c = 5, b = 1: 24 - 10^2 / 8 = 11.5. The products are reflected: row -1 is row 1, which counts twice for
         * row 0. At (2,0) a = 4, c = 12, b = 0: 48 - 32 = 16. At (1,0) a = 2, c = 10, b = 2: 16 - 18 = -2. At (0,0)
         * only (1,1), four times: a = b = c = 4: 0 - 8 = -8. */
        .name = "a dot, box of 3",
        .settings = "k=0.125 scale=raw maximum=2",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {dot},
        .out = {FLOATS(-8, -2, 16, -2, -8,     /**/
                       -2, 11.5, 28, 11.5, -2, /**/
                       16, 28, 72, 28, 16,     /**/
                       -2, 11.5, 28, 11.5, -2, /**/
                       -8, -2, 16, -2, -8),
                FLOATS(1, 0, 0, 2, 2, 72, 0, 0, 0)},
    },
    {
        /* Weights 1 2 1: at (2,2) a = c = 4 + 16 = 20, b = 0: 400 - 40^2 / 8 = 200. At (2,1) a = 12, c = 20: 240 - 128.
         * At (1,1) a = c = 12, b = 4: 128 - 72 = 56. At (2,0) a = 4, c = 20: 80 - 72 = 8. At (1,0) a = 4, c = 12, b =
         * 4: 32 - 32 = 0. At (0,0) a = b = c = 4: -8. */
        .name = "a dot, Gaussian of 3",
        .settings = "window=gaussian k=0.125 scale=raw maximum=1",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {dot},
        .out = {FLOATS(-8, 0, 8, 0, -8,     /**/
                       0, 56, 112, 56, 0,   /**/
                       8, 112, 200, 112, 8, /**/
                       0, 56, 112, 56, 0,   /**/
                       -8, 0, 8, 0, -8),
                FLOATS(1, 0, 0, 2, 2, 200)},
    },
    {
        /* A box of 2 lies up and to the left. Row 0, column 0: the corner (1,1) only, reflected from -1: a = b = c = 1,
         * -4/8. At (2,2) (1,1), (2,1), (1,2) and (2,2): a = c = 5, b = 1: 24 - 12.5 = 11.5; at (3,3) likewise. At (3,2)
         * (2,1), (3,1), (2,2), (3,2): a = 5, c = 5, b = -1. At (1,1) (1,1): -0.5. At (2,1) (1,1) and (2,1): a = 1, c =
         * 5, b = 1: 4 - 4.5 = -0.5. At (4,1) (3,1): a = c = 1, b = -1. At (4,2) (3,1) and (3,2): a = 5, c = 1, b = -1.
         * At (4,4): (3,3): a = b = c = 1. At (0,1): column -1 is column 1, (1,1) counts once, column 0 is 0. All others
         * by symmetry, and at (0,2) (1,1) and (1,2): a = 5, b = c = 1: 4 - 4.5. */
        .name = "a dot, box of 2",
        .settings = "size=2 k=0.125 scale=raw outputs=response",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {dot},
        .out = {FLOATS(-0.5, -0.5, -0.5, -0.5, -0.5, /**/
                       -0.5, -0.5, -0.5, -0.5, -0.5, /**/
                       -0.5, -0.5, 11.5, 11.5, -0.5, /**/
                       -0.5, -0.5, 11.5, 11.5, -0.5, /**/
                       -0.5, -0.5, -0.5, -0.5, -0.5)},
    },
    {
        /* The project report's response at (2,2): dx = 9 - 7 = 2, dy = 5 - 1 = 4, (4 + 16)^2 / 4 = 100. */
        .name = "central differences, no window, frame",
        .settings = "gradient=central window=none border=frame scale=raw k=0.25 maximum=1",
        .width = 5,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){9, 9, 9, 9, 9, /**/
                                 9, 9, 1, 9, 9, /**/
                                 9, 7, 8, 9, 9, /**/
                                 9, 9, 5, 9, 9, /**/
                                 9, 9, 9, 9, 9}},
        .out = {FLOATS(0, 0, 0, 0, 0,   /**/
                       0, 0, 0, 0, 0,   /**/
                       0, 0, 100, 0, 0, /**/
                       0, 0, 0, 0, 0,   /**/
                       0, 0, 0, 0, 0),
                FLOATS(1, 0, 0, 2, 2, 100)},
    },
    {
        /* Three dots of equal strength, each as above; those 6 apart are nearer than 7. */
        .name = "equal corners, and too near ones",
        .settings = "k=0.125 scale=raw outputs=corners distance=7 maximum=3",
        .width = 21,
        .height = 5,
        .channels = 1,
        .in = {(const uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        .out = {NULL, FLOATS(2, 0, 0, 2, 2, 72, 17, 2, 72, 0, 0, 0)},
    },
    {0},
};

const char *const harris_check_settings[] = {
    "size=1",
    "size=2",
    "size=4 scale=raw",
    "size=5 k=0.06",
    "size=7 outputs=response",
    "size=8 outputs=corners",
    "size=31",
    "window=gaussian k=0",
    "window=gaussian size=5 radius=3",
    "window=none",
    "gradient=central",
    "gradient=central window=gaussian size=5 outputs=response",
    "gradient=central window=none border=frame scale=raw",
    "border=frame",
    "window=gaussian size=5 outputs=response",
    "outputs=response",
    "outputs=corners maximum=10",
    "quality=0 maximum=3000",
    "quality=1",
    "radius=15",
    "distance=10 quality=0.2",
    "radius=2 distance=3.7 maximum=40",
    NULL,
};
