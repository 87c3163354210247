/*
 * Idea:     the yardstick on the CPU for the response: OpenCV's cornerHarris, which filters twice, multiplies, sums
 *           boxes and combines, each as a pass in floats.
 * Changed:  not ours; it gets the same image memory, window and k, and reflects at the same borders.
 * Expect:   ten times faster than cpu/serial and bound by memory: its passes move some 60 bytes a pixel where 5 would
 *           do. It rounds every product to 24 bits, so it agrees to a few times 10^-7 of the largest response.
 */
/* Try: make bench-harris VERSIONS=cpu,peer/opencv P="outputs=response" */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/harris.h"

static enum status run(const struct image *in, struct image *out, const struct harris_params *params)
{
    try {
        cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        cv::Mat to(in->height, in->width, CV_32FC1, out->data, out->stride);
        cv::setNumThreads(omp_get_max_threads());
        cv::cornerHarris(from, to, params->size, 3, params->k, cv::BORDER_REFLECT_101);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

/* In a picture of a few pixels even the largest response can be what is left of two terms 30 times as large. */
RUNGS_CPU_VERSION(harris, .declines = harris_opencv_declines, .tolerance = 1e-5)
