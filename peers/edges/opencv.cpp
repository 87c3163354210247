/*
 * Idea:     the yardstick on the CPU: OpenCV's Canny, which shares rows out to threads, finds gradients in vectors and
 *           follows weak pixels with a stack.
 * Changed:  not ours; it gets the same image memory and thresholds.
 * Expect:   ten times as fast as cpu/serial on a photograph. Its masks are equal to ours to the bit.
 */
/* Try: make bench-edges VERSIONS=cpu,peer/opencv P="thin=canny low=80 high=160" */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/edges.h"

static enum status run(const struct image *in, struct image *out, const struct edges_params *params)
{
    try {
        cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        cv::Mat to(in->height, in->width, CV_8UC1, out->data, out->stride);
        cv::setNumThreads(omp_get_max_threads());
        cv::Canny(from, to, params->low == EDGES_NO_LOW ? params->high : params->low, params->high);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(edges, .declines = edges_opencv_declines)
