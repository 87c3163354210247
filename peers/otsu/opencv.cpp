/*
 * Idea:     the yardstick on the CPU: OpenCV's threshold(THRESH_OTSU), which gives the threshold it found.
 * Changed:  not ours. It cannot give the threshold alone, so it also writes the binary image, little beside the
 *           counting.
 * Expect:   one thread only and one histogram of four interleaved parts: near cpu/serial for any picture; cpu/simd
 *           should beat it by more than the number of threads.
 */
/* Try: make bench-otsu VERSIONS=cpu/simd,peer/opencv */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/otsu.h"

static enum status run(const struct image *in, struct image *out, const struct otsu_params *params)
{
    (void)params;
    try {
        const cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        static thread_local cv::Mat binary; /* allocated once */
        cv::setNumThreads(omp_get_max_threads());
        *(int32_t *)out->data = (int32_t)cv::threshold(from, binary, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(otsu)
