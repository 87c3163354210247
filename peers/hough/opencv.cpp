/*
 * Idea:     the yardstick on the CPU: OpenCV's HoughLines, on one thread whatever it is given.
 * Changed:  not ours; it gets the same image memory, rho, theta and threshold. With edges=sobel it gets the mask of the
 *           gradients by two of OpenCV's filters, in the time that is measured. Before OpenCV 5 its rho is half a cell
 *           low where the number of cells is even; that is added.
 * Expect:   13.7 ms for the 95,000 edges of a photograph of 1920x1080 at 1 degree: 17 million votes at 0.8 ns. Votes,
 *           lines and their order are equal to ours.
 */
/* Try: make bench-hough VERSIONS=cpu,peer/opencv */
#include <omp.h>
#include <opencv2/imgproc.hpp>

#include "common/algo/hough.h"

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    try {
        const cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride);
        cv::Mat points = from;
        std::vector<cv::Vec3f> lines;
        cv::setNumThreads(omp_get_max_threads());
        if (params->edges == HOUGH_SOBEL) {
            cv::Mat gx, gy;
            cv::Sobel(from, gx, CV_16S, 1, 0, 3, 1, 0, cv::BORDER_REPLICATE);
            cv::Sobel(from, gy, CV_16S, 0, 1, 3, 1, 0, cv::BORDER_REPLICATE);
            /* Assigned as an expression it would go to the input's memory. */
            points = cv::Mat(cv::abs(gx) + cv::abs(gy) > params->edge);
        }
        cv::HoughLines(points, lines, params->rho, CV_PI / params->theta_steps, params->threshold);
        const int cells = hough_make_space(in->width, in->height, params).cells;
        const float missing = CV_VERSION_MAJOR < 5 && cells % 2 == 0 ? (float)params->rho / 2 : 0;
        image_fill(out, 0);
        *(float *)out->data = (float)lines.size();
        for (size_t i = 0; i < lines.size() && i < (size_t)params->maximum; i++) {
            lines[i][0] += missing;
            for (int column = 0; column < HOUGH_COLUMNS; column++)
                ((float *)image_row(out, (int)i + 1))[column] = lines[i][column];
        }
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(hough, .declines = hough_opencv_declines)
