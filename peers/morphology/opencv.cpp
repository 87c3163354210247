/*
 * Idea:     the yardstick on the CPU: OpenCV's dilate, erode and morphologyEx with getStructuringElement. For a square
 *           it works along rows and along columns apart; for any other element it takes the maximum over all its
 *           pixels.
 * Changed:  not ours; it gets the same image memory, the same element and its default border, which is the contract's.
 * Expect:   hundreds of times faster than cpu/serial, since it is vectorised; with a disk cpu/simd should need an
 *           eighth on one core, less on more, as the 169 pixels of a disk of 15 are 169 maxima where cpu/simd takes 23.
 */
/* Try: make bench-morphology VERSIONS=cpu/simd,peer/opencv */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/morphology.h"

/* A Mat that looks at the image's own memory; nothing is copied. */
static cv::Mat wrap(const struct image *image)
{
    return cv::Mat(image->height, image->width, CV_8UC1, image->data, image->stride);
}

static enum status run(const struct image *in, struct image *out, const struct morphology_params *params)
{
    try {
        static const int ops[] = {cv::MORPH_DILATE, cv::MORPH_ERODE, cv::MORPH_OPEN, cv::MORPH_CLOSE};
        const int shape = params->shape == MORPHOLOGY_DISK ? cv::MORPH_ELLIPSE : cv::MORPH_RECT;
        cv::Mat from = wrap(in), to = wrap(out);
        cv::setNumThreads(omp_get_max_threads());
        cv::morphologyEx(from, to, ops[params->op],
                         cv::getStructuringElement(shape, cv::Size(params->ksize, params->ksize)));
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(morphology)
