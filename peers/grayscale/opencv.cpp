/*
 * Idea:     the yardstick on the CPU: OpenCV's cvtColor, vectorised and spread over threads.
 * Changed:  not ours; it gets the same image memory and the conversion of that name, COLOR_RGB2GRAY.
 * Expect:   3.5 times serial with 2 threads, for it unpacks to 16 bits and multiplies in pairs; cpu/simd should beat it
 *           by two and more. At 596x336 one thread does all of it: no faster than omp.
 */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/grayscale.h"

/* A Mat that looks at the image's own memory; nothing is copied. */
static cv::Mat wrap(const struct image *image)
{
    return cv::Mat(image->height, image->width, CV_8UC(image->channels), image->data, image->stride);
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    try {
        cv::Mat from = wrap(in), to = wrap(out);
        cv::setNumThreads(omp_get_max_threads());
        cv::cvtColor(from, to, cv::COLOR_RGB2GRAY);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
