/*
 * correlation.h: correlation matrix of a spectral image, the contract of every version in cpu/correlation,
 * cuda/correlation and peers/correlation.
 *
 * Input    one cube of width x height pixels with n bands each, u8, u16 or f32, pixel by pixel with the bands of a
 *          pixel side by side (BIP). 1 to 1024 bands, 1 to 2^31-1 pixels. A photograph is a cube of 3 bands. f32
 *          samples are at most 2^50 in magnitude, so that no f32 sum of their products overflows.
 * Output   an f64 matrix of n x n, symmetric.
 *
 * Formula  With m pixels, whose spectra are s_1 ... s_m,
 *
 *              R = 1/m SUM s_i s_i'                                              center=0
 *              C = 1/m SUM s_i s_i' - mu mu',   mu = 1/m SUM s_i                 center=1
 *
 *          u8 and u16: all sums S are integers, and so is m S(u,v) - S(u) S(v), which is below 2^94. That integer, or
 *          S(u,v), is rounded to f64 and divided by m * m, or m: every version gives the same bits.
 *          f32: the sums depend on their order. With
 *
 *              P(u) = 1/m SUM (s_i(u) - z(u))^2,   z = 0 for center=0, pixel (width / 2, height / 2) for center=1,
 *
 *          an entry may differ from the one of f64 sums by 2^-12 sqrt(P(u) P(v)) + 2^-100 at most, the latter for
 *          products below what f32 holds. A sum of products in f32, L of
 *          them one after the other, has an error of at most (L + 3) 2^-24 times the sum of their magnitudes; the two
 *          means count twice more. So all is well with runs of at most 1024 products in f32, which are then added to
 *          f64, of spectra from which z was taken. Products of values that were rounded to 10 bits (TF32) or 7
 *          (bfloat16) exceed it; so does one f32 sum over all pixels.
 *
 * Parameters   center  0 (default): correlation, 1: covariance
 *              type    f32 (default), u8 or u16: the samples of a cube that is made up; a file has its own
 *
 * Errors   i32, u32 or f64 samples, samples above 2^50, infinite or NaN, more than 1024 bands, more than 2^31-1 pixels:
 *          STATUS_BAD_INPUT.
 *
 * Source   Jošth 2014, equation 1 and algorithm 1 (groups of threads in shared memory). Its last thread index,
 *          n(n-1)/2 - 1, leaves the diagonal out; here all n(n+1)/2 pairs count.
 */
#ifndef RUNGS_CORRELATION_H
#define RUNGS_CORRELATION_H

#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CORRELATION_MAX_BANDS = 1024 };

struct correlation_params {
    int center; /* 0 or 1 */
    int type;   /* index of f32, u8, u16 */
};

/* ------------------------------------------------------------------------------------------------- planes
 * Every version but the definition sums products of planes: numbers that f32 holds exactly, so small that 256 products
 * of u8 or u16 cubes add up without rounding (256 * 255^2 < 2^24), and any number of them in f64 (2^31 * 255^2 < 2^53).
 * The n planes of a u8 cube are its bands; the 2n of a u16 cube are their low and their high bytes; the n of a f32 cube
 * the bands minus z. For center=1 one more plane is 1 everywhere: its products are the sums S(u). */

enum { CORRELATION_RUN = 256 };

static HOST_DEVICE inline int correlation_planes(const struct image *in, const struct correlation_params *params)
{
    return in->channels * (in->type == PIXEL_U16 ? 2 : 1) + params->center;
}

/* A pixel's samples; pixels are counted in raster order. */
static HOST_DEVICE inline const void *correlation_pixel(const struct image *in, int64_t index)
{
    return (const char *)image_row(in, (int)(index / in->width)) + (size_t)(index % in->width) * (size_t)in->channels *
                                                                       (in->type == PIXEL_U8    ? 1
                                                                        : in->type == PIXEL_U16 ? 2
                                                                                                : 4);
}

/* z, or NULL where it is 0. */
static HOST_DEVICE inline const float *correlation_shift(const struct image *in,
                                                         const struct correlation_params *params)
{
    if (in->type != PIXEL_F32 || !params->center)
        return (const float *)0;
    return (const float *)image_row(in, in->height / 2) + (size_t)(in->width / 2) * (size_t)in->channels;
}

/* One plane of a pixel. */
static HOST_DEVICE inline float correlation_plane(const struct image *in, const void *pixel, const float *shift,
                                                  int plane)
{
    const int n = in->channels;

    if (in->type == PIXEL_U8)
        return plane < n ? ((const uint8_t *)pixel)[plane] : 1.0f;
    if (in->type == PIXEL_U16)
        return plane < n       ? (float)(((const uint16_t *)pixel)[plane] & 255)
               : plane < 2 * n ? (float)(((const uint16_t *)pixel)[plane - n] >> 8)
                               : 1.0f;
    return plane < n ? ((const float *)pixel)[plane] - (shift ? shift[plane] : 0) : 1.0f;
}

/* m S(u,v) - S(u) S(v) over m^2 of integers. */
static HOST_DEVICE inline double correlation_of_whole(uint64_t pixels, uint64_t product, uint64_t u, uint64_t v)
{
    __extension__ typedef __int128 wide;
    const wide numerator = (wide)pixels * product - (wide)u * v;
    const wide magnitude = numerator < 0 ? -numerator : numerator;
    /* The upper word is below 2^30, so only the lower one is rounded: the same everywhere. */
    const double value = (double)(int64_t)(magnitude >> 64) * 18446744073709551616.0 + (double)(uint64_t)magnitude;

    return (numerator < 0 ? -value : value) / ((double)pixels * (double)pixels);
}

/* Entry (u, v), u <= v, from the sums of products of planes, totals[i * planes + j] for i <= j. */
static HOST_DEVICE inline double correlation_entry(const double *totals, const struct image *in,
                                                   const struct correlation_params *params, int u, int v)
{
    const size_t n = (size_t)in->channels, planes = (size_t)correlation_planes(in, params);
    const double *low_u = totals + (size_t)u * planes, *low_v = totals + (size_t)v * planes;
    const double *high_u = low_u + n * planes, *high_v = low_v + n * planes; /* u16 only */
    const uint64_t pixels = (uint64_t)in->width * (uint64_t)in->height;
    uint64_t product, sum_u = 0, sum_v = 0;

    if (in->type == PIXEL_F32) {
        const double mean = low_u[v] / (double)pixels;
        return params->center ? mean - low_u[planes - 1] / (double)pixels * (low_v[planes - 1] / (double)pixels) : mean;
    }
    product = (uint64_t)low_u[v];
    if (in->type == PIXEL_U16)
        product += (((uint64_t)low_u[n + (size_t)v] + (uint64_t)low_v[n + (size_t)u]) << 8) +
                   ((uint64_t)high_u[n + (size_t)v] << 16);
    if (!params->center)
        return (double)product / (double)pixels;
    sum_u = (uint64_t)low_u[planes - 1] + (in->type == PIXEL_U16 ? (uint64_t)high_u[planes - 1] << 8 : 0);
    sum_v = (uint64_t)low_v[planes - 1] + (in->type == PIXEL_U16 ? (uint64_t)high_v[planes - 1] << 8 : 0);
    return correlation_of_whole(pixels, product, sum_u, sum_v);
}

/* ---------------------------------------------------------------------------------------- for host versions */

/* Copies `count` pixels' planes, from pixel `first` on, to panel[pixel * stride + plane]; those from `planes` to stride
 * become 0. */
void correlation_load(const struct image *in, const struct correlation_params *params, int64_t first, int count,
                      float *panel, int stride);
/* The matrix from the sums of products of planes. */
void correlation_finish(const double *totals, const struct image *in, const struct correlation_params *params,
                        struct image *out);

#ifdef __cplusplus
}
#endif

#endif
