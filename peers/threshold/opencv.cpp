/*
 * Idea:     the yardstick on the CPU: OpenCV's threshold(), vectorised and spread over threads; for value=otsu it
 *           counts and searches first.
 * Changed:  not ours; it gets the same image memory.
 * Expect:   as fast as cpu/simd for a fixed value, as both wait for memory; with value=otsu its histogram is counted by
 *           one thread, and cpu/simd is faster by more than the number of threads.
 */
/* Try: make bench-threshold VERSIONS=cpu/simd,peer/opencv P=value=otsu */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/threshold.h"

/* A Mat that looks at the image's own memory; nothing is copied. */
static cv::Mat wrap(const struct image *image)
{
    return cv::Mat(image->height, image->width, CV_8UC(image->channels), image->data, image->stride);
}

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    try {
        cv::Mat from = wrap(in), to = wrap(out);
        const int otsu = params->value == THRESHOLD_OTSU ? cv::THRESH_OTSU : 0;
        cv::setNumThreads(omp_get_max_threads());
        cv::threshold(from, to, params->value, 255, cv::THRESH_BINARY | otsu);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(threshold)
