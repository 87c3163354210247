/*
 * pyramid.h: multi-resolution pyramid: a picture and its smaller copies side by side in one picture, the contract of
 * every version in cpu/pyramid and cuda/pyramid.
 *
 * Input    one u8 image, 1 channel, any size from 1x1.
 * Output   pyramid   a u8 picture as wide as the input that holds all levels; what is in no level has the value `fill`.
 *
 * Levels   Level 0 is the input. Level l is smaller by scale^l, as a 16.16 number
 *
 *              step(l) = round(65536 scale^l)     width(l) = floor(65536 width / step(l))     height(l) likewise
 *
 *          and the last level is the last whose sides are both at least `window`; level 0 always is one.
 *
 * Places   Levels stand on shelves as wide as the input. Each level, in order, goes behind the last one of the first
 *          shelf that has room for it in width and height; when there is none, a new shelf as high as the level opens
 *          below. At a scale of 1.2 a tenth of the picture is gaps.
 *
 * Formula  Level l is resampled from the first level s with step(l) <= 2 step(s), from level l - 1 when there is none,
 *          with r = floor(65536 step(l) / step(s)):
 *
 *              u = floor((2x + 1) r / 2) - 32768     i = u >> 16     a = (u >> 8) & 255      (v, j, b from y)
 *              out(x,y) = ((256-b) ((256-a) in(i,j) + a in(i+1,j)) + b ((256-a) in(i,j+1) + a in(i+1,j+1)) + 32768) >>
 *              16
 *
 *          where i, i + 1, j, j + 1 are at most the last column and row of level s. A level at twice the step is the
 *          mean of 2 x 2 pixels: no level skips any.
 *
 * Exact    u < 2^34; the sums are at most 255 * 65536 + 32768 < 2^32: all versions agree to the bit.
 *
 * Parameters   scale    1.1..4, default 1.2: from one level to the next
 *              window   1..1024 pixels, default 24: smallest side of a level
 *              fill     0..255, default 0
 *
 * Errors   not u8, more than 1 channel, a pyramid that is higher than 65535 pixels: STATUS_BAD_INPUT.
 *
 * Source   Herout, Josth, Juranek, Havel, Hradis and Zemcik, Real-time object detection on CUDA, Journal of Real-Time
 *          Image Processing 6, 2011.
 */
#ifndef RUNGS_PYRAMID_H
#define RUNGS_PYRAMID_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PYRAMID_MAX_LEVELS = 96 };

struct pyramid_params {
    double scale;
    int window, fill;
};

struct pyramid_level {
    int x, y, width, height; /* its place in the pyramid */
    uint32_t step;           /* pixels of the input for one of this level, 16.16 */
    uint32_t relative;       /* pixels of level `source` for one of this level, 16.16 */
    int source;              /* the level that it is resampled from; of level 0 itself */
};

struct pyramid_layout {
    int width, height, count;
    struct pyramid_level levels[PYRAMID_MAX_LEVELS];
};

/* Where all levels of a picture stand. */
void pyramid_lay_out(int width, int height, const struct pyramid_params *params, struct pyramid_layout *layout);

/* Where a coordinate of a level lies in its source: the first pixel, the one after it, and the weight of that, of
 * 256. */
struct pyramid_tap {
    int first, second;
    uint32_t weight;
};

static HOST_DEVICE inline struct pyramid_tap pyramid_find_tap(int x, uint32_t relative, int size)
{
    const uint64_t u = ((uint64_t)(2 * (uint32_t)x + 1) * relative >> 1) - 32768;
    const int i = (int)(u >> 16);
    struct pyramid_tap tap = {i < size ? i : size - 1, i + 1 < size ? i + 1 : size - 1, (uint32_t)(u >> 8) & 255};

    return tap;
}

/* From the two rows of a source level and the taps of a pixel. */
static HOST_DEVICE inline uint8_t pyramid_blend(const uint8_t *upper, const uint8_t *lower, struct pyramid_tap column,
                                                uint32_t weight)
{
    const uint32_t above = (256 - column.weight) * upper[column.first] + column.weight * upper[column.second];
    const uint32_t below = (256 - column.weight) * lower[column.first] + column.weight * lower[column.second];

    return (uint8_t)(((256 - weight) * above + weight * below + 32768) >> 16);
}

#ifdef __cplusplus
}
#endif
#endif
