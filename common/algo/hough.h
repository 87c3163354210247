/*
 * hough.h: straight lines by the Hough transform in theta and rho, the contract of every version in cpu/hough,
 * cuda/hough and peers/hough.
 *
 * Input    one u8 image, 1 channel, any size from 1x1. With edges=nonzero every pixel that is not 0 is an edge point;
 *          with edges=sobel every pixel whose |gx| + |gy| > edge is one, gx and gy by Sobel's 3x3 weights, the border
 *          replicated (aaa|abcd|ddd).
 * Output   lines        an f32 table, 3 wide and maximum + 1 high; absent with outputs=accumulator:
 *
 *              row 0       count, 0, 0
 *              row k >= 1  rho, theta, votes          pixels, radians
 *
 *          count is how many lines there are; rows 1, 2 ... hold the `maximum` with most votes, of equal ones those
 *          with the smaller index; rows that are not in use are 0.
 *          accumulator  an i32 matrix, `cells` wide and theta_steps high; absent with outputs=lines.
 *
 * Votes    In floats, each operation rounded by itself (no fused multiply-add), as OpenCV 4 computes them:
 *
 *              step = (float)(pi / theta_steps)       angle[0] = 0, angle[n + 1] = angle[n] + step
 *              cosine[n] = (float)(cos(angle[n]) * (1 / rho))     the cosine in double, 1 / rho in float
 *              cells = round((2 (width + height) + 1) / rho)      centre = (cells - 1) / 2, a whole number
 *
 *          An edge point (x, y) adds 1 to cell round(x * cosine[n] + y * sine[n]) + centre of row n, for each row n;
 *          round() takes halves to the even neighbour. The cell of row n stands for theta = n * step and
 *          rho = (cell - centre) * rho, whether `cells` is odd or even; its index is n * cells + cell. OpenCV before 5
 *          takes (cells - 1) / 2 as it is, half a cell too much, where `cells` is even.
 *
 * Wrap     theta and theta + pi are the same line with rho reversed: row n + theta_steps, and n - theta_steps, is row n
 *          with cell 2 centre - cell in the place of cell.
 *
 * Lines    A cell is a line when its votes are
 *            - greater than threshold,
 *            - the most in its neighbourhood; of equal ones the smallest index counts.
 *          window=cross looks at the four neighbours in theta and rho, and rows outside 0 .. theta_steps - 1 are empty:
 *          OpenCV's rule, which can find a line near theta = 0 twice. window=n looks at n x n cells, with the wrap.
 *
 * Bins     A line's normal is the direction of the gradient across it. With orientation = w < 90 degrees a point votes
 *          only for rows n whose distance from its bin, round the circle of theta_steps, is at most
 *          half_width = round(w theta_steps / 180). The bin is that of the rows nearest to the direction of (gx, gy)
 *          modulo pi, found by cross products with the directions between rows, (n - 1/2) pi / theta_steps, in integers
 *          of 2^-20: |g| <= 1141, so that they are below 2^31 and exact.
 *
 * Counters      A cell gets at most max(width, height) * min(min(width, height), floor(rho sqrt(2)) + 2) votes: a strip
 *          that is rho wide and at most 45 degrees off an axis covers so many pixels of each row or column. That is 3 *
 *          65535 for rho = 1: counters of 16 bits overflow, those of 32 bits never do.
 *
 * Parameters   theta_steps  1..16384 rows of pi / theta_steps, default 180      edges    nonzero | sobel
 *              rho          0.1..16 pixels a cell, default 1                    edge     0..2040, default 150
 *              threshold    1..2^24 votes, default 100                          outputs  lines | accumulator | both
 *              window       cross, or odd 3..31, at most theta_steps            maximum  1..2^20 lines, default 4096
 *              orientation  0..90 degrees, default 90 (all rows); less needs edges=sobel
 *
 * Errors   not u8, more than 1 channel, an even window, a window above theta_steps, an orientation without gradients,
 *          rho so coarse that the centre is no more than a cell from the border, 2^31 cells or more: STATUS_BAD_INPUT.
 *
 * Source   Hough, Method and Means for Recognizing Complex Patterns, US patent 3069654, 1962; Duda and Hart, Use of the
 *          Hough Transformation to Detect Lines and Curves in Pictures, CACM 15(1), 1972; the small accumulator and the
 *          orientation bins: Jošth, Dubská, Herout and Havel, Real-Time Line Detection Using Accelerated
 *          High-Resolution Hough Transform, SCIA 2011.
 */
#ifndef RUNGS_HOUGH_H
#define RUNGS_HOUGH_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/contract/registry.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF /* gcc never fuses in C11 */
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum hough_edges { HOUGH_NONZERO, HOUGH_SOBEL };
enum hough_outputs { HOUGH_LINES, HOUGH_ACCUMULATOR, HOUGH_BOTH };
enum {
    HOUGH_COLUMNS = 3,
    HOUGH_CROSS = -1,
    HOUGH_MAX_WINDOW = 31,
    HOUGH_ALL_ROWS = -1,
    HOUGH_DIRECTION_UNIT = 1 << 20
};

struct hough_params {
    int theta_steps, threshold, window, edges, edge, outputs, maximum;
    double rho, orientation;
    /* Derived: */
    int half_width; /* rows to either side of a point's bin that it votes for; HOUGH_ALL_ROWS: all */
    int d;          /* 0; of parallel coordinates (pclines.h): rows of a space */
    int radius;     /* of the neighbourhood, 1 for the cross */
};

/* "rho", "theta", "votes", NULL-terminated. */
extern const char *const hough_column_names[];

/* The accumulator of a picture. */
struct hough_space {
    int rows, cells, centre;
    int reach; /* votes lie in cells centre - reach .. centre + reach */
};
struct hough_space hough_make_space(int width, int height, const struct hough_params *params);

/* Of a row: what x and y are multiplied with. */
struct hough_angle {
    float cosine, sine;
};
void hough_make_angles(const struct hough_params *params, struct hough_angle *angles);

/* The direction between row n - 1 and row n, for n = 1 .. theta_steps; place 0 is not used. */
struct hough_direction {
    int32_t x, y;
};
void hough_make_directions(const struct hough_params *params, struct hough_direction *directions);

/* Cells from the centre that the point's vote is away. */
static HOST_DEVICE inline int hough_offset(int x, int y, struct hough_angle angle)
{
#if defined(__CUDA_ARCH__) || defined(RUNGS_EMULATED)
    return (int)rintf(__fadd_rn(__fmul_rn((float)x, angle.cosine), __fmul_rn((float)y, angle.sine)));
#else
    return (int)rintf((float)x * angle.cosine + (float)y * angle.sine);
#endif
}

static HOST_DEVICE inline int hough_sample(const struct image *in, int x, int y)
{
    x = x < 0 ? 0 : x >= in->width ? in->width - 1 : x;
    y = y < 0 ? 0 : y >= in->height ? in->height - 1 : y;
    return ((const uint8_t *)image_row(in, y))[x];
}

struct hough_gradient {
    int x, y;
};

static HOST_DEVICE inline struct hough_gradient hough_sobel(const struct image *in, int x, int y)
{
    const int falling = hough_sample(in, x + 1, y + 1) - hough_sample(in, x - 1, y - 1);
    const int rising = hough_sample(in, x + 1, y - 1) - hough_sample(in, x - 1, y + 1);
    struct hough_gradient g;

    g.x = 2 * (hough_sample(in, x + 1, y) - hough_sample(in, x - 1, y)) + falling + rising;
    g.y = 2 * (hough_sample(in, x, y + 1) - hough_sample(in, x, y - 1)) + falling - rising;
    return g;
}

/* Whether (x, y) is an edge point; with edges=sobel also its gradient. */
static HOST_DEVICE inline bool hough_is_point(const struct image *in, int x, int y, const struct hough_params *params,
                                              struct hough_gradient *gradient)
{
    if (params->edges == HOUGH_NONZERO)
        return ((const uint8_t *)image_row(in, y))[x] != 0;
    *gradient = hough_sobel(in, x, y);
    return abs(gradient->x) + abs(gradient->y) > params->edge;
}

/* The row whose normal is nearest to the gradient, modulo pi. */
static HOST_DEVICE inline int hough_bin(const struct hough_direction *directions, int rows, struct hough_gradient g)
{
    int low = 0, high = rows; /* directions up to `low` are not behind the gradient, those above `high` are */

    if (g.y < 0 || (g.y == 0 && g.x < 0)) {
        g.x = -g.x;
        g.y = -g.y;
    }
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (directions[middle].x * g.y - directions[middle].y * g.x >= 0)
            low = middle;
        else
            high = middle - 1;
    }
    return low == rows ? 0 : low;
}

/* The same in parallel coordinates: u mod 2 d, where (d - |u|, u) is nearest to the gradient, or to its opposite. */
static HOST_DEVICE inline int hough_parallel_bin(int d, struct hough_gradient g)
{
    const int sum = abs(g.x) + abs(g.y), y = abs(g.y), rises = (g.x < 0) == (g.y < 0) || g.x == 0 || y == 0;
    const int u = rises ? d * y : 2 * d * sum - d * y;

    return (2 * u + sum) / (2 * sum) & (2 * d - 1);
}

/* The bin of a point, whichever the coordinates are. */
static HOST_DEVICE inline int hough_bin_for(const struct hough_direction *directions, const struct hough_params *params,
                                            struct hough_gradient g)
{
    return params->d ? hough_parallel_bin(params->d, g) : hough_bin(directions, params->theta_steps, g);
}

/* Whether a point of this bin votes for row n. */
static HOST_DEVICE inline bool hough_votes_for(const struct hough_params *params, int bin, int n)
{
    const int distance = bin < n ? n - bin : bin - n, rows = params->theta_steps;

    return params->half_width == HOUGH_ALL_ROWS ||
           (distance < rows - distance ? distance : rows - distance) <= params->half_width;
}

/* Whether cell r of row n is no line because of its neighbour j rows and i cells away, if it has one there that counts:
 * that has more votes, or as many and the smaller index. */
static HOST_DEVICE inline bool hough_yields(const struct image *accumulator, struct hough_space space, int n, int r,
                                            int j, int i, const struct hough_params *params)
{
    const bool wraps = n + j < 0 || n + j >= space.rows;
    const int row = n + j < 0 ? n + j + space.rows : n + j >= space.rows ? n + j - space.rows : n + j;
    const int cell = wraps ? 2 * space.centre - (r + i) : r + i;

    if (params->window == HOUGH_CROSS && (wraps || (i != 0) == (j != 0)))
        return false;
    if (cell < 0 || cell >= space.cells || (i == 0 && j == 0))
        return false;
    const int own = ((const int32_t *)image_row(accumulator, n))[r];
    const int other = ((const int32_t *)image_row(accumulator, row))[cell];
    return other > own || (other == own && (row < n || (row == n && cell < r)));
}

/* Whether cell (n, r) of a whole accumulator is a line. */
static HOST_DEVICE inline bool hough_is_line(const struct image *accumulator, struct hough_space space, int n, int r,
                                             const struct hough_params *params)
{
    const int radius = params->radius;

    if (((const int32_t *)image_row(accumulator, n))[r] <= params->threshold)
        return false;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++)
            if (hough_yields(accumulator, space, n, r, j, i, params))
                return false;
    return true;
}

/* A line as one number: more votes, or of equal ones the smaller index, is greater. */
static HOST_DEVICE inline uint64_t hough_key(struct hough_space space, int n, int r, int votes)
{
    return (uint64_t)votes << 32 | (uint32_t) ~((uint32_t)n * (uint32_t)space.cells + (uint32_t)r);
}

static HOST_DEVICE inline void hough_write_row(uint64_t key, struct hough_space space, float step, float rho,
                                               float *row)
{
    const uint32_t index = ~(uint32_t)key;
    const int n = (int)(index / (uint32_t)space.cells), r = (int)(index % (uint32_t)space.cells);

    row[0] = (float)(r - space.centre) * rho;
    row[1] = (float)n * step;
    row[2] = (float)(key >> 32);
}

/* The angle from row to row, as the table of lines has it. */
static HOST_DEVICE inline float hough_step(const struct hough_params *params)
{
    return (float)(3.14159265358979323846 / params->theta_steps);
}

/* Of a peer that gives the accumulator of all points and nothing else: NULL, or why it does not do a case. */
static inline const char *hough_accumulator_only(const struct image in[], const void *params_erased)
{
    const struct hough_params *params = (const struct hough_params *)params_erased;

    (void)in;
    if (params->outputs != HOUGH_ACCUMULATOR)
        return "it gives the accumulator alone (outputs=accumulator)";
    if (params->rho < 1 || params->rho > 1)
        return "it counts in steps of one pixel (rho=1)";
    if (params->edges != HOUGH_NONZERO)
        return "it counts pixels that are not 0 (edges=nonzero)";
    return NULL;
}

/* Why OpenCV's HoughLines does not give what is asked for; NULL where it does. */
static inline const char *hough_opencv_declines(const struct image in[], const void *params_erased)
{
    const struct hough_params *params = (const struct hough_params *)params_erased;

    (void)in;
    if (params->outputs != HOUGH_LINES)
        return "HoughLines gives lines alone (outputs=lines)";
    if (params->window != HOUGH_CROSS)
        return "HoughLines compares with four neighbours (window=cross)";
    if (params->half_width != HOUGH_ALL_ROWS)
        return "in HoughLines every point votes for all rows (orientation=90)";
    return NULL;
}

/* What every CPU version shares: a list of keys that grows. */
struct hough_list {
    uint64_t *keys;
    size_t count, capacity;
};
enum status hough_append(struct hough_list *list, uint64_t key);
/* Puts `count` lists one after the other and frees them, whatever happens. */
enum status hough_join(struct hough_list *lists, int count, struct hough_list *joined);

/* Brings lines that are in the order of their indices into the order of their votes, most first. */
enum status hough_sort(struct hough_list *list);

/* From all lines, in the order of their indices, to the table: most votes first. Frees the list. */
enum status hough_write_lines(struct hough_list *list, struct hough_space space, const struct hough_params *params,
                              struct image *lines);

/* For algorithm.advise: what to do where more than half of the pixels are edge points, because a photograph is hardly
 * ever 0. */
const char *hough_advise(const struct image *in, const struct hough_params *params);

/* Turns a photograph into its edges: white where |gx| + |gy| by Sobel is above 150, black elsewhere.
 * STATUS_NO_MEMORY. */
enum status hough_keep_edges(struct image *in);

/* Draws the line x cos(theta) + y sin(theta) = rho into a u8 image with 1 or 3 channels. */
void hough_draw_line(struct image *image, double rho, double theta, const uint8_t *colour);

#ifdef __cplusplus
}
#endif
#endif
