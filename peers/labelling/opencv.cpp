/*
 * Idea:     the yardstick on the CPU: OpenCV's connectedComponents, for connectivity 8 Bolelli's Spaghetti (2x2 blocks
 *           and a decision tree of some 10000 generated lines), in bands of rows with several threads.
 * Changed:  not ours. It numbers components 1, 2, 3 ...; that its labels become ours (a look at every label) is done
 *           after the call, for the comparison only, and is not in its time.
 * Expect:   5 times faster than cpu/serial, for it looks at 2x2 pixels a step; cpu/simd should beat it clearly.
 */
/* Try: make bench-labelling VERSIONS=cpu,peer/opencv */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/labelling.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    try {
        cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        cv::Mat to(out->height, out->width, CV_32SC1, out->data, out->stride);
        cv::setNumThreads(omp_get_max_threads());
        cv::connectedComponents(from, to, params->connectivity, CV_32S);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only, .normalise = labelling_normalise)
