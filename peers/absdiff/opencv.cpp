/*
 * Idea:     the yardstick on the CPU: OpenCV's absdiff, vectorised, but not spread over threads.
 * Changed:  not ours; it gets the same image memory.
 * Expect:   as fast as serial, which gcc vectorises as well; omp gains what the second core can load.
 */
#include <omp.h>
#include <opencv2/core.hpp>

#include "common/algo/absdiff.h"

/* A Mat that looks at the image's own memory; nothing is copied. */
static cv::Mat wrap(const struct image *image)
{
    return cv::Mat(image->height, image->width, CV_8UC(image->channels), image->data, image->stride);
}

static enum status run(const struct image *in, struct image *out, const struct absdiff_params *params)
{
    (void)params;
    try {
        cv::Mat a = wrap(&in[0]), b = wrap(&in[1]), to = wrap(out);
        cv::setNumThreads(omp_get_max_threads());
        cv::absdiff(a, b, to);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(absdiff)
