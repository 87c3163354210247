/*
 * opencv_algorithms.h: labels by one of OpenCV's algorithms that is asked for by name.
 */
#ifndef RUNGS_PEERS_LABELLING_OPENCV_ALGORITHMS_H
#define RUNGS_PEERS_LABELLING_OPENCV_ALGORITHMS_H

#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/labelling.h"

static inline enum status opencv_label(const struct image *in, struct image *out, const struct labelling_params *params,
                                       int algorithm)
{
    try {
        cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        cv::Mat to(out->height, out->width, CV_32SC1, out->data, out->stride);
        cv::setNumThreads(omp_get_max_threads());
        cv::connectedComponents(from, to, params->connectivity, CV_32S, algorithm);
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

#endif
