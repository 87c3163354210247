/*
 * Idea:     the yardstick on the CPU for corners: OpenCV's goodFeaturesToTrack with Harris' response.
 * Changed:  not ours; it gets the same window, k, quality, distance and maximum.
 * Expect:   a tenth slower than cornerHarris: the largest response, a dilation and a comparison are three more passes
 *           of floats. It keeps all pixels of a plateau, and its floats put responses that are nearly equal in either
 *           order: normalise() puts neighbours of the list that they cannot tell apart into the order of the exact
 *           responses.
 */
/* Try: make bench-harris VERSIONS=cpu,peer/opencv_features P="outputs=corners" */
#include <omp.h>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "common/algo/harris.h"

static const float rounding = 1e-6F;

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

static int sample(const struct image *in, int x, int y)
{
    return ((const uint8_t *)image_row(in, harris_reflect(y, in->height)))[harris_reflect(x, in->width)];
}

/* Without rounding: Sobel's gradients in a box, all that goodFeaturesToTrack is asked for. */
static float exact_response(const struct image *in, const struct harris_params *params, const float *row)
{
    struct harris_sums sums = {0, 0, 0};

    for (int j = 0; j < params->size; j++)
        for (int i = 0; i < params->size; i++) {
            const int x = harris_reflect((int)row[0] + i - params->size / 2, in->width);
            const int y = harris_reflect((int)row[1] + j - params->size / 2, in->height);
            const int falling = sample(in, x + 1, y + 1) - sample(in, x - 1, y - 1);
            const int rising = sample(in, x + 1, y - 1) - sample(in, x - 1, y + 1);
            const int gx = 2 * (sample(in, x + 1, y) - sample(in, x - 1, y)) + falling + rising;
            const int gy = 2 * (sample(in, x, y + 1) - sample(in, x, y - 1)) + falling - rising;
            sums.a += gx * gx;
            sums.b += gx * gy;
            sums.c += gy * gy;
        }
    return harris_response(params, sums);
}

/* Nothing moves past a corner whose response differs by more than OpenCV's rounding, a millionth of the largest. */
static void normalise(const struct image in[], struct image *out, const void *params_erased)
{
    const struct harris_params *params = (const struct harris_params *)params_erased;
    const int count = (int)*(const float *)out[1].data;
    std::vector<uint64_t> keys;

    for (int n = 1; n <= count; n++) {
        const float *row = (const float *)image_row(&out[1], n);
        keys.push_back(harris_key(exact_response(in, params, row), in->width, (int)row[0], (int)row[1]));
        for (int k = n; k > 1 && keys[(size_t)k - 1] > keys[(size_t)k - 2]; k--) {
            float *stronger = (float *)image_row(&out[1], k), *weaker = (float *)image_row(&out[1], k - 1);
            if (weaker[2] - stronger[2] > rounding * ((const float *)image_row(&out[1], 1))[2])
                break;
            std::swap_ranges(stronger, stronger + HARRIS_COLUMNS, weaker);
            std::swap(keys[(size_t)k - 1], keys[(size_t)k - 2]);
        }
    }
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

RUNGS_CPU_VERSION(harris, .declines = declines, .tolerance = rounding, .normalise = normalise)
