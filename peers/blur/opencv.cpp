/*
 * Idea:     the yardstick on the CPU: OpenCV's GaussianBlur, which is separable, in 8-bit fixed point, vectorised and
 *           spread over threads.
 * Changed:  not ours; it gets the same image memory, weights (the sigma is given, never derived) and border.
 * Expect:   hundreds of times faster than cpu/serial; cpu/simd should beat it clearly with the same threads.
 */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/blur.h"

/* A Mat that looks at the image's own memory; nothing is copied. */
static cv::Mat wrap(const struct image *image)
{
    return cv::Mat(image->height, image->width, CV_8UC(image->channels), image->data, image->stride);
}

static enum status run(const struct image *in, struct image *out, const struct blur_params *params)
{
    try {
        cv::Mat from = wrap(in), to = wrap(out);
        cv::setNumThreads(omp_get_max_threads());
        cv::GaussianBlur(from, to, cv::Size(params->ksize, params->ksize), params->sigma, params->sigma,
                         cv::BORDER_REPLICATE);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(blur, .tolerance = 1)
