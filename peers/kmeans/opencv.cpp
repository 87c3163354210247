/*
 * Idea:     the yardstick on the CPU: OpenCV's kmeans, in f32, on as many threads as it is given.
 * Changed:  not ours. It starts from random centres of its own and stops on its own count, so that only the time says
 *           anything: any result passes. Rows that are not f32 are converted within the time, as for anyone who calls
 *           it.
 * Expect:   16 ms an iteration of 47,628 rows of 256 features and 16 centroids: differences and squares, centroid by
 *           centroid.
 */
/* Try: make bench-kmeans VERSIONS=cpu,peer P="start=rows iterations=10" */
#include <omp.h>
#include <opencv2/core.hpp>

#include "common/algo/kmeans.h"

static cv::Mat as_floats(const struct image *in)
{
    const int type = in->type == PIXEL_U8 ? CV_8U : in->type == PIXEL_U16 ? CV_16U : CV_32F;
    const int columns = in->channels == 1 ? in->width : in->width * in->channels;
    cv::Mat all;

    cv::Mat(in->height, columns, type, in->data, in->stride).convertTo(all, CV_32F);
    return all.reshape(1, (int)kmeans_row_count(in));
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    try {
        cv::Mat labels, centres;
        const cv::TermCriteria stop(cv::TermCriteria::COUNT, params->iterations, 0);
        cv::setNumThreads(omp_get_max_threads());
        const double inertia =
            cv::kmeans(as_floats(in), params->k, labels, stop, params->attempts, cv::KMEANS_RANDOM_CENTERS, centres);
        for (int j = 0; j < params->k; j++)
            for (int f = 0; f < centres.cols; f++)
                ((float *)image_row(&out[KMEANS_CENTROIDS], j))[f] = centres.at<float>(j, f);
        for (int row = 0; row < labels.rows; row++)
            ((int32_t *)image_row(&out[KMEANS_LABELS],
                                  row / out[KMEANS_LABELS].width))[row % out[KMEANS_LABELS].width] =
                labels.at<int>(row);
        for (int i = 0; i <= params->iterations; i++)
            *(double *)image_row(&out[KMEANS_INERTIA], i) = inertia;
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(kmeans, .declines = kmeans_all_rows, .tolerance = 1e300)
