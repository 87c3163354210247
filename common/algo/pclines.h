/*
 * pclines.h: straight lines by parallel coordinates, with whole numbers only, the contract of every version in cpu/pclines
 * and cuda/pclines.
 *
 * Input    one u8 image, 1 channel, any size from 1x1; edge points as in hough.h.
 * Output   lines        an f32 table, 6 wide and maximum + 1 high; absent with outputs=accumulator:
 *
 *              row 0       count, 0, 0, 0, 0, 0
 *              row k >= 1  rho, theta, votes, a, b, c
 *
 *          the line x cos(theta) + y sin(theta) = rho in pixels from the picture's corner, 0 <= theta < pi, and the same
 *          as a X + b Y + c = 0 with X = x - width / 2 and Y = y - height / 2 (whole numbers, rounded down). Most votes
 *          first, of equal ones those with the smaller index; count is how many there are, also beyond `maximum`.
 *          accumulator  an i32 matrix, `cells` wide and 2 d high; absent with outputs=lines.
 *
 * Votes    A point (X, Y) is two segments in the spaces of parallel coordinates, straight (0 <= u <= d) and twisted
 *          (-d < u < 0), joined at u = 0:
 *
 *              v(u) = floor((X (d - |u|) + Y u + d / 2) / d)
 *
 *          It adds 1 to cell v + centre of row u + d - 1, for u = -d + 1 .. d; centre = max(width, height) / 2 + 1, cells =
 *          2 centre + 1. Points of one line meet in one cell: (a, b, c) = (d - |u|, u, -v d).
 *          |X|, |Y| <= 32767 and d <= 4096, so that sums stay below 2^28: exact, and all versions agree to the bit.
 *
 * Wrap     u = -d and u = d are the same lines with v reversed: row n + 2 d, and n - 2 d, is row n with cell 2 centre - cell.
 *
 * Lines    as in hough.h, with window=n: more votes than the threshold, the most of n x n cells, of equal ones the smallest
 *          index.
 *
 * Numbers  theta and the factors of a row are made on the host; rho = (float)fma(v, d / |(a, b)|, shift) in double, reversed
 *          where theta had to be, so that every device rounds alike.
 *
 * Parameters   d          16..4096, a power of two, default 512       edges    nonzero | sobel
 *              threshold  1..2^24 votes, default 100                  edge     0..2040, default 150
 *              window     odd 3..31 cells, default 9                  outputs  lines | accumulator | both
 *                                                                     maximum  1..2^20 lines, default 4096
 *
 * Errors   not u8, more than 1 channel, an even window, d no power of two, 2^31 cells or more: STATUS_BAD_INPUT.
 *
 * Source   Dubská, Herout and Havel, PClines - Line Detection Using Parallel Coordinates, CVPR 2011; Havel, Dubská, Herout
 *          and Jošth, Real-Time Detection of Lines Using Parallel Coordinates and CUDA, JRTIP 2012.
 */
#ifndef RUNGS_PCLINES_H
#define RUNGS_PCLINES_H

#include "common/algo/hough.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PCLINES_COLUMNS = 6 };

struct pclines_params {
    struct hough_params hough; /* what both have in common; derived: 2 d rows, rho = 1, all rows */
    int d;
    int shift; /* derived: d = 2^shift */
};

/* "rho", "theta", "votes", "a", "b", "c", NULL-terminated. */
extern const char *const pclines_column_names[];

struct hough_space pclines_make_space(int width, int height, const struct pclines_params *params);

/* Cells from the centre that the point's vote in row n is away; X and Y from the middle of the picture. */
static inline HOST_DEVICE int pclines_offset(int x, int y, int n, const struct pclines_params *params)
{
    const int u = n - params->d + 1;

    return (x * (params->d - (u < 0 ? -u : u)) + y * u + params->d / 2) >> params->shift;
}

/* Of a row of the accumulator: what its lines have in common. */
struct pclines_row {
    double factor, shift; /* rho = v factor + shift, or that reversed */
    float theta;
    int a, b, reversed;
};
struct pclines_row pclines_make_row(int n, const struct image *in, const struct pclines_params *params);

/* The row of the accumulator that a key is from. */
static inline HOST_DEVICE int pclines_key_row(uint64_t key, struct hough_space space)
{
    return (int)(~(uint32_t)key / (uint32_t)space.cells);
}

static inline HOST_DEVICE void pclines_write_row(uint64_t key, struct hough_space space, struct pclines_row line, int d,
                                                 float *row)
{
    const int v = (int)(~(uint32_t)key % (uint32_t)space.cells) - space.centre;
    const double rho = fma((double)v, line.factor, line.shift);

    row[0] = (float)(line.reversed ? -rho : rho);
    row[1] = line.theta;
    row[2] = (float)(key >> 32);
    row[3] = (float)line.a;
    row[4] = (float)line.b;
    row[5] = (float)(-v * d);
}

/* From all lines, in the order of their indices, to the table. Frees the list. */
enum status pclines_write_lines(struct hough_list *list, const struct image *in, const struct pclines_params *params,
                                struct image *lines);

#ifdef __cplusplus
}
#endif
#endif
