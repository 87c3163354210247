/*
 * pclines.h: straight lines by parallel coordinates, with whole numbers only, the contract of every version in
 * cpu/pclines and cuda/pclines.
 *
 * Input    one u8 image, 1 channel, any size from 1x1; edge points as in hough.h.
 * Output   lines        an f32 table, 6 wide and maximum + 1 high; absent with outputs=accumulator:
 *
 *              row 0       count, 0, 0, 0, 0, 0
 *              row k >= 1  rho, theta, votes, a, b, c
 *
 *          the line x cos(theta) + y sin(theta) = rho in pixels from the picture's corner, 0 <= theta < pi, and the
 *          same as a X + b Y + c = 0 with X = x - width / 2 and Y = y - height / 2 (whole numbers, rounded down). Most
 *          votes first, of equal ones those with the smaller index; count is how many there are, also beyond `maximum`.
 *          accumulator  an i32 matrix, `cells` wide and 2 d high; absent with outputs=lines.
 *
 * Votes    A point (X, Y) is two segments in the spaces of parallel coordinates, straight (0 <= u <= d) and twisted
 *          (-d < u < 0), joined at u = 0:
 *
 *              v(u) = floor((X (d - |u|) + Y u + d / 2) / d)
 *
 *          It adds 1 to cell v + centre of row u + d - 1, for u = -d + 1 .. d; centre = max(width, height) / 2 + 1,
 *          cells = 2 centre + 1. Points of one line meet in one cell: (a, b, c) = (d - |u|, u, -v d).
 *          |X|, |Y| <= 32767 and d <= 4096, so that sums stay below 2^28: exact, and all versions agree to the bit.
 *
 * Bins     As in hough.h: a point votes only for rows whose distance from its bin, round the circle of 2 d rows, is at
 *          most half_width = round(w 2 d / 180). The bin is the row whose (d - |u|, u) is nearest to the gradient (gx,
 *          gy) or its opposite: u = d gy / (gx + |gy|) for gx >= 0, rounded, halves up in the order of angles: whole
 *          numbers again. Rows are 1 / d to 2 / d radians apart, so that w degrees are 0.64 w at upright and level
 *          lines and 1.27 w at 45 degrees.
 *
 * Wrap     u = -d and u = d are the same lines with v reversed: row n + 2 d, and n - 2 d, is row n with cell 2 centre -
 *          cell.
 *
 * Lines    as in hough.h, with window=n: more votes than the threshold, the most of n x n cells, of equal ones the
 *          smallest index.
 *
 * Subpixel   With subpixel=1 a line lies at the centre of gravity of the votes around it: of the window's n x n cells
 *          each weighs what twice its votes are more than the peak's. u and v then are no whole numbers; theta is
 *          between those of two rows, in proportion, and (a, b, c) = (d - |u|, u, -v d) with u where it is, also a
 *          little beyond d: a < 0 and b = 2 d - u there, and below -d the opposite.
 *
 * Numbers  theta and the factors of a row are made on the host; rho = (float)fma(v, d / |(a, b)|, shift) in double,
 *          reversed where theta had to be, so that every device rounds alike.
 *
 * Parameters   d          16..4096, a power of two, default 512       edges    nonzero | sobel
 *              threshold  1..2^24 votes, default 100                  edge     0..2040, default 150
 *              window     odd 3..31 cells, default 9                  outputs  lines | accumulator | both
 *              orientation  0..90 degrees, default 90 (all rows); less needs edges=sobel
 *              subpixel   0 | 1, default 0                            maximum  1..2^20 lines, default 4096
 *
 * Errors   not u8, more than 1 channel, an even window, d no power of two, an orientation without gradients, 2^31 cells
 *          or more: STATUS_BAD_INPUT.
 *
 * Source   Dubská, Herout and Havel, PClines - Line Detection Using Parallel Coordinates, CVPR 2011; Havel, Dubská,
 *          Herout and Jošth, Real-Time Detection of Lines Using Parallel Coordinates and CUDA, JRTIP 2012.
 */
#ifndef RUNGS_PCLINES_H
#define RUNGS_PCLINES_H

#include "common/algo/hough.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PCLINES_COLUMNS = 6 };
#define PCLINES_PI 3.14159265358979323846

struct pclines_params {
    struct hough_params hough; /* what both have in common; derived: 2 d rows, rho = 1, all rows */
    int d, subpixel;
    int shift; /* derived: d = 2^shift */
};

/* "rho", "theta", "votes", "a", "b", "c", NULL-terminated. */
extern const char *const pclines_column_names[];

struct hough_space pclines_make_space(int width, int height, const struct pclines_params *params);

/* Cells from the centre that the point's vote in row n is away; X and Y from the middle of the picture. */
static HOST_DEVICE inline int pclines_offset(int x, int y, int n, const struct pclines_params *params)
{
    const int u = n - params->d + 1;

    return (x * (params->d - (u < 0 ? -u : u)) + y * u + params->d / 2) >> params->shift;
}

/* The bin of a point by its gradient, a row's place round the circle: u modulo 2 d. 0 where all points vote for all
 * rows. */
static HOST_DEVICE inline int pclines_bin(const struct pclines_params *params, struct hough_gradient gradient)
{
    return params->hough.half_width == HOUGH_ALL_ROWS ? 0 : hough_parallel_bin(params->d, gradient);
}

static HOST_DEVICE inline bool pclines_votes_for(const struct pclines_params *params, int bin, int n)
{
    return hough_votes_for(&params->hough, bin, (n - params->d + 1) & (2 * params->d - 1));
}

/* Of a row of the accumulator: what its lines have in common. */
struct pclines_row {
    double factor, shift; /* rho = v factor + shift, or that reversed */
    double angle;         /* theta, negative where that is reversed */
    float theta;
    int a, b, reversed;
};
struct pclines_row pclines_make_row(int n, const struct image *in, const struct pclines_params *params);

/* The row of the accumulator that a key is from. */
static HOST_DEVICE inline int pclines_key_row(uint64_t key, struct hough_space space)
{
    return (int)(~(uint32_t)key / (uint32_t)space.cells);
}

/* How far a line's centre of gravity is from its cell, in rows and cells. */
struct pclines_shift {
    double u, v;
};
static HOST_DEVICE inline struct pclines_shift pclines_find_shift(const struct image *accumulator,
                                                                  struct hough_space space, int n, int r, int radius)
{
    const int own = ((const int32_t *)image_row(accumulator, n))[r];
    int64_t sum = 0, down = 0, across = 0;

    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++) {
            const bool wraps = n + j < 0 || n + j >= space.rows;
            const int row = n + j < 0 ? n + j + space.rows : n + j >= space.rows ? n + j - space.rows : n + j;
            const int cell = wraps ? 2 * space.centre - (r + i) : r + i;
            if (cell < 0 || cell >= space.cells)
                continue;
            const int64_t weight = 2 * (int64_t)((const int32_t *)image_row(accumulator, row))[cell] - own;
            if (weight > 0) {
                sum += weight;
                down += weight * j;
                across += weight * i;
            }
        }
    return (struct pclines_shift){(double)down / (double)sum, (double)across / (double)sum};
}

/* A row of the table. The picture is named for its size, the accumulator for subpixel=1. */
static HOST_DEVICE inline void pclines_write_row(uint64_t key, struct hough_space space, const struct pclines_row *rows,
                                                 const struct image *in, const struct image *accumulator,
                                                 const struct pclines_params *params, float *row)
{
    const int n = pclines_key_row(key, space), cell = (int)(~(uint32_t)key % (uint32_t)space.cells), d = params->d;
    const struct pclines_row line = rows[n];

    row[2] = (float)(key >> 32);
    if (!params->subpixel) {
        const double rho = fma((double)(cell - space.centre), line.factor, line.shift);
        row[0] = (float)(line.reversed ? -rho : rho);
        row[1] = line.theta;
        row[3] = (float)line.a;
        row[4] = (float)line.b;
        row[5] = (float)(-(cell - space.centre) * d);
        return;
    }
    const struct pclines_shift shift = pclines_find_shift(accumulator, space, n, cell, params->hough.radius);
    const double u = (double)(n - d + 1) + shift.u, v = (double)(cell - space.centre) + shift.v;
    const double a = (double)d - fabs(u), b = fabs(u) <= d ? u : u < 0 ? -2.0 * d - u : 2.0 * d - u;
    const double rho =
        fma(v, (double)d, fma((double)(in->width / 2), a, (in->height / 2) * b)) / sqrt(fma(a, a, b * b));
    const int low = n + (int)floor(shift.u), high = low + 1;
    const double from = rows[low & (2 * d - 1)].angle + (low < 0 ? -1 : low >= 2 * d) * PCLINES_PI;
    const double to = rows[high & (2 * d - 1)].angle + (high < 0 ? -1 : high >= 2 * d) * PCLINES_PI;
    const double angle = fma(shift.u - floor(shift.u), to - from, from);
    const bool reversed = angle < -0x1p-22; /* between this and 0, a float of angle + pi would be pi */

    row[0] = (float)(reversed ? -rho : rho);
    row[1] = (float)(reversed ? angle + PCLINES_PI : fmax(angle, 0.0));
    row[3] = (float)a;
    row[4] = (float)b;
    row[5] = (float)(-v * d);
}

/* From all lines, in the order of their indices, to the table. Frees the list. */
enum status pclines_write_lines(struct hough_list *list, const struct image *accumulator, const struct image *in,
                                const struct pclines_params *params, struct image *lines);

#ifdef __cplusplus
}
#endif
#endif
