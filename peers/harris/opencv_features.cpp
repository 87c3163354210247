/*
 * Idea:     the yardstick on the CPU for corners: OpenCV's goodFeaturesToTrack with Harris' response.
 * Changed:  not ours; it gets the same window, k, quality, distance and maximum.
 * Expect:   a tenth slower than cornerHarris: the largest response, a dilation and a comparison are three more passes of
 *           floats. It keeps all pixels of a plateau, and its floats put responses that are equal in either order.
 */
/* Try: make bench-harris VERSIONS=cpu,peer/opencv_features P="outputs=corners" */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/harris.h"

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    try {
        cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        std::vector<cv::Point2f> corners;
        std::vector<float> responses;
        cv::setNumThreads(omp_get_max_threads());
        cv::goodFeaturesToTrack(from, corners, params->maximum, params->quality, params->distance, cv::noArray(),
                                responses, params->size, 3, true, params->k);
        image_fill(&out[1], 0);
        *(float *)out[1].data = (float)corners.size();
        for (size_t i = 0; i < corners.size(); i++) {
            float *row = (float *)image_row(&out[1], (int)i + 1);
            row[0] = corners[i].x;
            row[1] = corners[i].y;
            row[2] = responses[i];
        }
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct harris_params *params = (const struct harris_params *)params_erased;

    (void)in;
    if (params->outputs != HARRIS_CORNERS)
        return "goodFeaturesToTrack gives the corners alone (outputs=corners)";
    if (params->gradient != HARRIS_SOBEL || params->window != HARRIS_BOX)
        return "goodFeaturesToTrack has Sobel gradients and a box";
    if (params->border != HARRIS_REFLECT || params->unit || params->radius != 1)
        return "goodFeaturesToTrack reflects, has its own scale and looks 1 pixel around";
    if (params->size % 2 == 0)
        return "an even box has equal sums in the two rows at an edge, and goodFeaturesToTrack keeps both";
    if (params->quality == 0)
        return "goodFeaturesToTrack asks for a quality above 0";
    return NULL;
}

RUNGS_CPU_VERSION(harris, .declines = declines, .tolerance = 1e-6)
