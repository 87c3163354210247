/*
 * harris.h: Harris corners: the response of every pixel and the strongest corners, the contract of every version in
 * cpu/harris, cuda/harris and peers/harris.
 *
 * Input    one u8 image, 1 channel, any size from 1x1.
 * Output   response   an f32 picture of the same size; absent with outputs=corners.
 *          corners    an f32 table, 3 wide and maximum + 1 high; absent with outputs=response:
 *
 *              row 0       count, 0, 0
 *              row k >= 1  x, y, response
 *
 *          strongest first, equal ones in raster order; rows that are not in use are 0.
 *
 * Response The border of the input, and once more that of the products, is reflected without repeating the edge
 *          (gfe|abcdefg| fed, harris_reflect()). With Sobel's 3x3 weights, or I(x+1,y) - I(x-1,y) with
 *          gradient=central,
 *
 *              a = SUM w gx^2    b = SUM w gx gy    c = SUM w gy^2       over the window
 *              det = a c - b^2   t = (a + c)^2
 *              response = (float)fma(-k, t, det) * scale                 fma in double, rounded once
 *
 *          window=box weighs all size x size pixels with 1, the pixel itself at (size/2, size/2); window=gaussian is
 *          the binomial row of size taps (1 2 1; 1 4 6 4 1) in x and y, a Gaussian of standard deviation sqrt(size - 1)
 *          / 2; window=none is the pixel alone. Without a window det is 0 everywhere, the response -k t is no corner
 *          detector, and its magnitude is given.
 *
 *          scale=opencv divides a, b and c by (255 s n)^2 as OpenCV's cornerHarris does, s = 4 for Sobel and 2 for
 *          central differences, n = size for a box, 2^(size-1) for a binomial window, else 1: scale = (255 s n)^-4,
 *          rounded to float. scale=raw is 1.
 *
 *          border=frame sets the response to 0 where x or y is less than 2 from either end.
 *
 * Exact    |gx|, |gy| <= 1020 and gx^2 + gy^2 <= 1020^2 + 510^2 = 1300500, for the two share the corner weights. A
 *          window weighs 961 at most (31 x 31), so a, |b|, c and a + c stay below 1.25e9 < 2^31; det and t, at most
 *          1.6e18, fit in an i64. With a weight of at most 49 (7 x 7) t is at most 4.1e15 < 2^53, and doubles hold all
 *          of them as exactly; with the 256 of a Gaussian of 5 they don't. Then one fma, the conversion to float and
 *          one product round: nothing depends on the order of the sums, and all versions agree to the bit.
 *
 * Corners  A pixel is a corner when its response is
 *            - greater than quality * (the largest response), rounded to float,
 *            - the largest of the (2 radius + 1)^2 pixels around it, which must all lie inside the picture; of equal
 *              ones the first in raster order counts.
 *          Then from the strongest on: one that is nearer than `distance` to a corner that was kept is dropped, until
 *          `maximum` are kept. No response above 0: no corners.
 *
 * OpenCV   cornerHarris(size, 3, k) is met to 1.5e-6 of the largest magnitude, all but 2e-7 of which is its own
 *          rounding, for it sums in floats; goodFeaturesToTrack keeps all pixels of a plateau, where this contract
 *          keeps the first.
 *
 * Document gradient=central window=none border=frame scale=raw is the response of *Accelerating the Harris Corner
 *          Detector through Multithreading*: |dx^2 dy^2 - (dx dy)^2 - k (dx^2 + dy^2)^2|.
 *
 * Parameters   gradient  sobel | central                 size      1..31, default 3; gaussian: 3 or 5
 *              window    none | box | gaussian           k         0..0.25, default 0.04
 *              border    reflect | frame                 quality   0..1, default 0.01
 *              scale     opencv | raw                    radius    1..15 pixels, default 1
 *              outputs   both | response | corners       distance  0..65535 pixels, default 0
 *                                                        maximum   1..65534, default 1000
 *
 * Errors   not u8, more than 1 channel, a Gaussian of another size: STATUS_BAD_INPUT.
 *
 * Source   Harris and Stephens, A Combined Corner and Edge Detector, Alvey Vision Conference, 1988.
 */
#ifndef RUNGS_HARRIS_H
#define RUNGS_HARRIS_H

#include <math.h>
#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum harris_gradient { HARRIS_SOBEL, HARRIS_CENTRAL };
enum harris_window { HARRIS_NONE, HARRIS_BOX, HARRIS_GAUSSIAN };
enum harris_border { HARRIS_REFLECT, HARRIS_FRAME };
enum harris_outputs { HARRIS_BOTH, HARRIS_RESPONSE, HARRIS_CORNERS };
enum { HARRIS_MAX_SIZE = 31, HARRIS_MAX_RADIUS = 15, HARRIS_COLUMNS = 3, HARRIS_FRAME_WIDTH = 2 };

struct harris_params {
    int gradient, window, size, border, unit, outputs, radius, maximum;
    double k, quality, distance;
    /* Derived: */
    float scale;
    int taps[HARRIS_MAX_SIZE]; /* `size` weights; a pixel of the window weighs taps[i] * taps[j] */
};

/* "x", "y", "response", NULL-terminated. */
extern const char *const harris_column_names[];

/* The sums over a window: of gx^2, gx gy and gy^2. */
struct harris_sums {
    int32_t a, b, c;
};

/* Index i of n pixels, reflected until it lies inside; 0 where there is but one. */
static HOST_DEVICE inline int harris_reflect(int i, int n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? i : 0;
}

/* Whether doubles hold a c, b^2 and t exactly: a window of at most 49. */
static HOST_DEVICE inline bool harris_fits_doubles(const struct harris_params *params)
{
    return params->window == HARRIS_NONE || params->size <= (params->window == HARRIS_BOX ? 7 : 3);
}

static HOST_DEVICE inline float harris_response(const struct harris_params *params, struct harris_sums sums)
{
    const int64_t trace = (int64_t)sums.a + sums.c;
    const int64_t det = (int64_t)sums.a * sums.c - (int64_t)sums.b * sums.b;
    const float response = (float)fma(-params->k, (double)(trace * trace), (double)det) * params->scale;

    return params->window == HARRIS_NONE ? fabsf(response) : response;
}

/* Whether border=frame makes the response of this pixel 0. */
static HOST_DEVICE inline bool harris_in_frame(const struct harris_params *params, int x, int y, int width, int height)
{
    const int f = HARRIS_FRAME_WIDTH;

    return params->border == HARRIS_FRAME && (x < f || y < f || x >= width - f || y >= height - f);
}

/* What a corner's response must exceed. */
static HOST_DEVICE inline float harris_threshold(const struct harris_params *params, float largest)
{
    return largest > 0 ? (float)(params->quality * (double)largest) : INFINITY;
}

/* Whether the response at (x, y) is the largest of those within `radius`, the first in raster order of equal ones. */
static HOST_DEVICE inline bool harris_is_peak(const struct image *response, int x, int y, int radius)
{
    const float own = ((const float *)image_row(response, y))[x];

    if (x < radius || y < radius || x >= response->width - radius || y >= response->height - radius)
        return false;
    for (int j = -radius; j <= radius; j++) {
        const float *row = (const float *)image_row(response, y + j);
        for (int i = -radius; i <= radius; i++)
            if (j < 0 || (j == 0 && i < 0) ? row[x + i] >= own : row[x + i] > own)
                return false;
    }
    return true;
}

/* A corner as one number: the stronger, or of equal ones the earlier in raster order, is greater. Responses above 0
 * only, whose bits are in the order of their values. */
static HOST_DEVICE inline uint64_t harris_key(float response, int width, int x, int y)
{
    union {
        float value;
        uint32_t bits;
    } of = {response};

    return (uint64_t)of.bits << 32 | (uint32_t) ~((uint32_t)y * (uint32_t)width + (uint32_t)x);
}

static HOST_DEVICE inline void harris_write_row(uint64_t key, int width, float *row)
{
    const uint32_t index = ~(uint32_t)key;
    union {
        uint32_t bits;
        float value;
    } of = {(uint32_t)(key >> 32)};

    row[0] = (float)(index % (uint32_t)width);
    row[1] = (float)(index / (uint32_t)width);
    row[2] = of.value;
}

/* What every CPU version shares. The response to compute into: out[0], or where that is absent *scratch, made like it;
 * to be freed with image_free(). */
enum status harris_open_response(const struct image *in, const struct image *out, struct image *scratch,
                                 struct image *response);

/* NULL, or in one line why skimage's corner_harris() is not what these parameters ask for (peers/harris/skimage.py). */
const char *harris_skimage_declines(const struct image in[], const void *params);

/* A list of keys that grows. */
struct harris_list {
    uint64_t *keys;
    size_t count, capacity;
};
enum status harris_append(struct harris_list *list, uint64_t key);

/* From all peaks above the threshold to the table: sorts list->keys, drops what is too near, writes at most
 * `maximum`. */
enum status harris_write_corners(struct harris_list *list, const struct harris_params *params, int width,
                                 struct image *corners);

/* Why OpenCV's cornerHarris does not give what is asked for; NULL where it does. */
const char *harris_opencv_declines(const struct image in[], const void *params);

#ifdef __cplusplus
}
#endif
#endif
