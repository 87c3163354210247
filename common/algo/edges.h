/*
 * edges.h: edge points of a gray picture: gradients, a threshold, thinning, hysteresis. The contract of every version
 * in cpu/edges, cuda/edges and peers/edges.
 *
 * Input    one u8 image, 1 channel, any size from 1x1.
 * Output   mask     a u8 picture of the same size, 255 for edge points and 0 elsewhere; absent with outputs=points.
 *          points   an i32 table, 4 wide and maximum + 1 high; absent with outputs=mask:
 *
 *              row 0       count, 0, 0, 0
 *              row k >= 1  x, y, gx, gy
 *
 *          in raster order; count is how many edge points there are, also beyond `maximum`.
 *
 * Gradient gx and gy by Sobel's 3x3 weights, the border replicated (aaa|abcd|ddd), as in hough.h; m = |gx| + |gy|, at
 *          most 2040; outside of the picture m is 0.
 *
 * Threshold     A pixel is strong when m > high. high=otsu is 8 t + 7 with Otsu's t (otsu.h) of all values floor(m /
 *               8).
 *
 * Thinning      thin=canny keeps pixels whose m is the largest across the edge, in one of four directions:
 *
 *              |gy| 2^15 < 13573 |gx|                  m > m(x-1, y) and m >= m(x+1, y)
 *              |gy| 2^15 > (13573 + 2^16) |gx|         m > m(x, y-1) and m >= m(x, y+1)
 *              else, s = -1 where just one of gx, gy is negative, else 1:   m > m(x-s, y-1) and m > m(x+s, y+1)
 *
 * Weak     With low a pixel is weak when m > min(low, high); weak pixels that chains of eight neighbours, all weak,
 *          join to a strong one are edge points, besides the strong ones (those with m > max(low, high)). low=none:
 *          strong ones alone. Thinning comes first.
 *
 * Canny    thin=canny low=L high=H is OpenCV's Canny(L, H), aperture 3, L1 norm, to the bit.
 *
 * Parameters   high  0..2040 or otsu, default 150        thin     none | canny
 *              low   0..2040 or none, default none       outputs  mask | points | both
 *                                                        maximum  1..2^20 points, default 2^18
 *
 * Errors   not u8, more than 1 channel: STATUS_BAD_INPUT.
 *
 * Source   Canny, A Computational Approach to Edge Detection, IEEE Transactions on Pattern Analysis and Machine
 *          Intelligence 8(6), 1986.
 */
#ifndef RUNGS_EDGES_H
#define RUNGS_EDGES_H

#include "common/algo/hough.h"

#ifdef __cplusplus
extern "C" {
#endif

enum edges_thin { EDGES_THICK, EDGES_CANNY };
enum edges_outputs { EDGES_MASK, EDGES_POINTS, EDGES_BOTH };
enum { EDGES_OTSU = -1, EDGES_NO_LOW = -1, EDGES_COLUMNS = 4, EDGES_BINS = 256, EDGES_BIN_SHIFT = 3 };

struct edges_params {
    int high, low, thin, outputs, maximum;
};

/* "x", "y", "gx", "gy", NULL-terminated. */
extern const char *const edges_column_names[];

/* A pixel is weak above the one and strong above the other. */
struct edges_thresholds {
    int weak, strong;
};

/* From the parameters; `otsu` counts with high=otsu: Otsu's threshold of floor(m / 8) over all pixels. */
static HOST_DEVICE inline struct edges_thresholds edges_order_thresholds(const struct edges_params *params, int otsu)
{
    const int high = params->high == EDGES_OTSU ? (otsu << EDGES_BIN_SHIFT) + (1 << EDGES_BIN_SHIFT) - 1 : params->high;
    const int low = params->low == EDGES_NO_LOW ? high : params->low;
    const struct edges_thresholds ordered = {low < high ? low : high, low < high ? high : low};

    return ordered;
}

/* The same with the histogram of floor(m / 8). */
struct edges_thresholds edges_find_thresholds(const struct edges_params *params, const uint32_t *histogram);

static HOST_DEVICE inline int edges_magnitude(struct hough_gradient g)
{
    return (g.x < 0 ? -g.x : g.x) + (g.y < 0 ? -g.y : g.y);
}

/* Whether the pixel is thin enough: magnitudes of its row and of those above and below, each with a 0 before and
 * behind. */
static HOST_DEVICE inline bool edges_is_ridge(struct hough_gradient g, const int16_t *above, const int16_t *row,
                                              const int16_t *below, int x)
{
    enum { TAN_22 = 13573 }; /* tan(22.5 degrees) * 2^15 */
    const int m = row[x], width = (g.x < 0 ? -g.x : g.x) * TAN_22, height = (g.y < 0 ? -g.y : g.y) * (1 << 15);
    const int s = (g.x ^ g.y) < 0 ? -1 : 1;

    if (height < width)
        return m > row[x - 1] && m >= row[x + 1];
    if (height > width + (g.x < 0 ? -g.x : g.x) * (1 << 16))
        return m > above[x] && m >= below[x];
    return s < 0 ? m > above[x + 1] && m > below[x - 1] : m > above[x - 1] && m > below[x + 1];
}

/* Why OpenCV's Canny does not give what is asked for; NULL where it does. */
const char *edges_opencv_declines(const struct image in[], const void *params);

#ifdef __cplusplus
}
#endif
#endif
