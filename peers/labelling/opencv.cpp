/*
 * Idea:     the yardstick on the CPU: OpenCV's connectedComponents, for connectivity 8 Bolelli's Spaghetti (2x2 blocks
 *           and a decision tree of some 10000 generated lines), in bands of rows with several threads.
 * Changed:  not ours. It numbers components 1, 2, 3 ...; that its labels become ours (a look at every label) is done
 *           after the call, for the comparison only, and is not in its time. Statistics are those of
 *           connectedComponentsWithStats, whose columns become ours within the call.
 * Expect:   5 times faster than cpu/serial, for it looks at 2x2 pixels a step; cpu/simd should beat it clearly.
 */
/* Try: make bench-labelling VERSIONS=cpu,peer/opencv */
#include <cmath>
#include <numeric>
#include <omp.h>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "common/algo/labelling.h"

/* The first `rows` components in the order of their first pixels, which for connectivity 8 is not OpenCV's. */
static std::vector<int> first_components(const cv::Mat &labels, int rows)
{
    std::vector<int> order;
    std::vector<bool> seen;

    for (int y = 0; y < labels.rows; y++)
        for (int x = 0; x < labels.cols; x++) {
            const int label = labels.at<int>(y, x);
            if (label >= (int)seen.size())
                seen.resize(label + 1);
            if (label == 0 || seen[label])
                continue;
            seen[label] = true;
            order.push_back(label);
            if ((int)order.size() == rows)
                return order;
        }
    return order;
}

/* OpenCV's statistics as rows of our table. Its centroids are doubles, which give the sums back exactly. */
static void fill_table(struct image *table, const std::vector<int> &order, int count, const cv::Mat &statistics,
                       const cv::Mat &centroids)
{
    image_fill(table, 0);
    *(int32_t *)table->data = count;
    for (size_t i = 0; i < order.size(); i++) {
        const int *from = statistics.ptr<int>(order[i]);
        const double *centre = centroids.ptr<double>(order[i]);
        struct boxes_sums sums = {};
        sums.x_min = from[cv::CC_STAT_LEFT];
        sums.y_min = from[cv::CC_STAT_TOP];
        sums.x_max = sums.x_min + from[cv::CC_STAT_WIDTH] - 1;
        sums.y_max = sums.y_min + from[cv::CC_STAT_HEIGHT] - 1;
        sums.area = from[cv::CC_STAT_AREA];
        sums.x_sum = (unsigned long long)std::llround(centre[0] * sums.area);
        sums.y_sum = (unsigned long long)std::llround(centre[1] * sums.area);
        boxes_write_row(&sums, order[i], (int32_t *)image_row(table, (int)i + 1));
    }
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    try {
        cv::Mat from(in->height, in->width, CV_8UC1, in->data, in->stride), statistics, centroids;
        cv::Mat to(out->height, out->width, CV_32SC1, out->data, out->stride);
        cv::setNumThreads(omp_get_max_threads());
        if (params->statistics) {
            const int count =
                cv::connectedComponentsWithStats(from, to, statistics, centroids, params->connectivity, CV_32S) - 1;
            std::vector<int> order(std::min(count, params->max_components));
            std::iota(order.begin(), order.end(), 1);
            if (count > params->max_components)
                order = first_components(to, params->max_components);
            fill_table(&out[1], order, count, statistics, centroids);
        } else {
            cv::connectedComponents(from, to, params->connectivity, CV_32S);
        }
        if (to.data != out->data)
            return status_set(STATUS_FAILED, "OpenCV wrote its result elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .normalise = labelling_normalise)
