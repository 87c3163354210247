/*
 * pca.h: principal components of a spectral image and their view in colour, the contract of every version in cpu/pca
 * and cuda/pca.
 *
 * Input    cube: height x width pixels of n bands, u8, u16 or f32, as in correlation.h; 1 to 65535 pixels a side, 1 to
 *          1024 bands, at least as many as components.
 * Output   rgb         u8 picture of 3 channels: the first three components in red, green and blue; where there are
 *                      fewer, the last one again
 *          components  f32 tensor, height x width x C: y_k = e_k's of each pixel's spectrum s
 *          values      f64 matrix, C x 1: the largest eigenvalues, the largest first
 *          vectors     f64 matrix, n x C: column k is e_k, of length 1, its largest component positive
 *
 * Formula  e_k are the leading eigenvectors of the cube's correlation or covariance matrix R (correlation.h, eigen.h).
 *          No mean is taken off the spectra that are projected: it adds a constant to y_k, which the stretch takes off
 *          again. With lo and hi the smallest and the largest y_k, or the mean of y_k less and plus two standard
 *          deviations,
 *
 *              rgb = floor(255 (y_k - lo) / (hi - lo) + 1/2), limited to 0 ... 255,
 *              0 where hi - lo is at most 2^-16 of the longest |s|: that is rounding noise of f32, as of equal bands.
 *
 *          Eigenvectors whose values are close are free to turn, so versions are held to what components are: with
 *          their own results, |R e_k - lambda_k e_k| <= 1e-3 |R| (or 1e-12 of the mean |s|^2, if that is more) and
 *          products of vectors within 1e-6 of 0 or 1; y_k within 1e-4 of the longest |s|; rgb within one level, and
 *          within three of the reference's where the vector is not free to turn: where its value is apart from the
 *          others by more than 1/100 of the largest. Values are compared, with 1e-3 of the largest.
 *
 * Parameters   components  1 to 16, default 3
 *              center      1 (default): covariance, 0: correlation
 *              stretch     minmax (default) or sigma
 *              type        f32 (default), u8 or u16: the samples of a cube that is made up; a file has its own
 *
 * Errors   i32, u32 or f64 samples, sides, bands or samples above the limits, fewer bands than components:
 *          STATUS_BAD_INPUT.
 *
 * Source   Jošth 2014, section on the principal component analysis of spectral images; H. Hotelling, Analysis of a
 *          complex of statistical variables into principal components, Journal of Educational Psychology 24(6), 1933.
 */
#ifndef RUNGS_PCA_H
#define RUNGS_PCA_H

#include <math.h>
#include <stdint.h>

#include "common/contract/pipeline.h"
#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PCA_MAX_COMPONENTS = 16 };
enum { PCA_RGB, PCA_COMPONENTS, PCA_VALUES, PCA_VECTORS };
enum { PCA_MINMAX, PCA_SIGMA };

struct pca_params {
    int components, center, stretch, type;
};

/* What a stretch is made of, of one component. */
struct pca_range {
    double smallest, largest, sum, squares;
    double longest; /* |s|^2 of the longest spectrum */
};

/* The share of the longest |s| that a component must spread over to be stretched. */
#define PCA_NOTHING 0x1p-16

/* A pixel's sample in one band, from the first sample of the pixel. */
static HOST_DEVICE inline float pca_sample(const struct image *in, const void *pixel, int band)
{
    return in->type == PIXEL_U8    ? (float)((const uint8_t *)pixel)[band]
           : in->type == PIXEL_U16 ? (float)((const uint16_t *)pixel)[band]
                                   : ((const float *)pixel)[band];
}

/* |s|^2 of a pixel. */
static HOST_DEVICE inline float pca_squares(const struct image *in, const void *pixel)
{
    float squares = 0;

    for (int band = 0; band < in->channels; band++)
        squares += pca_sample(in, pixel, band) * pca_sample(in, pixel, band);
    return squares;
}

static HOST_DEVICE inline const void *pca_pixel(const struct image *in, int x, int y)
{
    const size_t size = in->type == PIXEL_U8 ? 1 : in->type == PIXEL_U16 ? 2 : 4;

    return (const char *)image_row(in, y) + (size_t)x * (size_t)in->channels * size;
}

/* lo and 255 / (hi - lo), 0 for no range worth showing, out of `pixels` values. */
static HOST_DEVICE inline void pca_stretch(const struct pca_range *range, double pixels, int stretch, float *low,
                                           float *scale)
{
    const double mean = range->sum / pixels, variance = range->squares / pixels - mean * mean;
    const double half = 2 * sqrt(variance > 0 ? variance : 0);
    const double from = stretch == PCA_MINMAX ? range->smallest : mean - half;
    const double to = stretch == PCA_MINMAX ? range->largest : mean + half;
    const bool spreads = to - from > PCA_NOTHING * sqrt(range->longest) && (float)to > (float)from;

    *low = (float)from;
    *scale = spreads ? (float)(255 / (to - from)) : 0;
}

static HOST_DEVICE inline uint8_t pca_level(float value, float low, float scale)
{
    const float level = (value - low) * scale + 0.5f;

    return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

/* ------------------------------------------------------------------------------------------------ the steps
 * The matrix and its vectors are versions of the ladders correlation and eigen. */

struct pca_versions {
    const char *correlation, *eigen;
};

struct pca_steps {
    struct step correlation, eigen;
    struct image matrix, values, vectors; /* n x n, n x 1, n x n */
};

/* Opens both steps; the images are the caller's to make, with step_shape(). */
enum status pca_open(struct pca_steps *steps, const struct pca_params *params, const struct pca_versions *versions);
void pca_close(struct pca_steps *steps);

/* For host versions: opens the steps and makes their images at the first call, then runs them, and copies what is asked
 * for into out[PCA_VALUES] and out[PCA_VECTORS]. */
enum status pca_solve(struct pca_steps *steps, const struct image *in, struct image out[],
                      const struct pca_params *params, const struct pca_versions *versions);
void pca_free(struct pca_steps *steps);
/* Colours out of components and their ranges, for rows `first` to `last` - 1. */
void pca_colour(struct image out[], const struct pca_range ranges[], const struct pca_params *params, int first,
                int last);

#ifdef __cplusplus
}
#endif

#endif
