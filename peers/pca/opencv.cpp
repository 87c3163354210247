/*
 * Idea:     the yardstick on the CPU: OpenCV's PCA, a covariance matrix by its own product of a matrix with its
 *           transpose and its Jacobi eigenvectors; the projection is its matrix product. f32 throughout.
 * Changed:  not ours; the samples are copied to f32 first, which it would do itself, and the colours are the
 *           contract's.
 * Expect:   three times as fast as cpu/serial on a million pixels of 31 bands, as its product knows no symmetry that
 *           few bands could use.
 */
/* Try: make bench-pca VERSIONS=cpu,peer/opencv */
#include <cstring>

#include <omp.h>
#include <opencv2/core.hpp>

#include "common/algo/pca.h"

/* Largest components positive, as the contract asks for. */
static void turn(cv::Mat &vectors)
{
    for (int k = 0; k < vectors.rows; k++) {
        float largest = 0;
        for (int band = 0; band < vectors.cols; band++)
            if (std::fabs(vectors.at<float>(k, band)) > std::fabs(largest))
                largest = vectors.at<float>(k, band);
        if (largest < 0)
            vectors.row(k) *= -1;
    }
}

static void project(const struct image *in, struct image *out, const struct pca_params *params,
                    struct pca_range ranges[])
{
    const int kinds = params->components, depth = in->type == PIXEL_U8    ? CV_8U
                                                  : in->type == PIXEL_U16 ? CV_16U
                                                                          : CV_32F;
    cv::Mat samples(in->height * in->width, in->channels, CV_32F), none,
        zeros = cv::Mat::zeros(1, in->channels, CV_32F);

    for (int y = 0; y < in->height; y++)
        cv::Mat(in->width, in->channels, depth, image_row(in, y))
            .convertTo(samples.rowRange(y * in->width, (y + 1) * in->width), CV_32F);
    cv::PCA pca(samples, params->center ? none : zeros, cv::PCA::DATA_AS_ROW, kinds);
    turn(pca.eigenvectors);
    for (int k = 0; k < kinds; k++) {
        *(double *)image_row(&out[PCA_VALUES], k) = pca.eigenvalues.at<float>(k);
        for (int band = 0; band < in->channels; band++)
            ((double *)image_row(&out[PCA_VECTORS], band))[k] = pca.eigenvectors.at<float>(k, band);
        ranges[k] = {INFINITY, -INFINITY, 0, 0, 0};
    }
    for (int y = 0; y < in->height; y++) {
        cv::Mat row(in->width, kinds, CV_32F, image_row(&out[PCA_COMPONENTS], y));
        cv::gemm(samples.rowRange(y * in->width, (y + 1) * in->width), pca.eigenvectors, 1, none, 0, row, cv::GEMM_2_T);
        for (int i = 0; i < in->width * kinds; i++) {
            const double value = row.at<float>(i / kinds, i % kinds);
            struct pca_range *range = &ranges[i % kinds];
            *range = {fmin(range->smallest, value), fmax(range->largest, value), range->sum + value,
                      range->squares + value * value,
                      fmax(range->longest, pca_squares(in, pca_pixel(in, i / kinds, y)))};
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct pca_params *params)
{
    struct pca_range ranges[PCA_MAX_COMPONENTS];

    try {
        cv::setNumThreads(omp_get_max_threads());
        project(in, out, params, ranges);
        pca_colour(out, ranges, params, 0, in->height);
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

static bool alike(const struct image *in)
{
    const size_t size = image_row_bytes(in) / in->width;

    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (memcmp(pca_pixel(in, x, y), in->data, size) != 0)
                return false;
    return true;
}

static const char *declines(const struct image in[], const void *params)
{
    if ((int64_t)in->width * in->height < in->channels)
        return "with fewer pixels than bands OpenCV's PCA gives fewer vectors";
    if (((const struct pca_params *)params)->center && alike(in))
        return "of pixels that are all alike its f32 sums leave a variance";
    return NULL;
}

/* Vectors of f32 are orthogonal within 5e-6. */
RUNGS_CPU_VERSION(pca, .declines = declines, .tolerance = 5e-3)
