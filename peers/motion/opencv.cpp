/*
 * Idea:     the yardstick on the CPU: the detector as OpenCV's users write it, eight calls a frame, ending with
 *           connectedComponentsWithStats.
 * Changed:  not ours; it gets the same frames and as many threads. Its components are put into the order of their first
 *           pixels, which takes a look at one row of each box.
 * Expect:   hundreds of times as fast as cpu/serial, and slower than cpu/simd: it compares all 169 pixels of the disk
 *           four times, on one thread in older versions, and its statistics cost five times its labels.
 */
/* Try: make bench-motion VERSIONS=cpu/simd,peer/opencv */
#include <algorithm>
#include <cmath>
#include <omp.h>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "common/algo/morphology.h"
#include "common/algo/motion.h"

/* Kept from frame to frame: OpenCV writes into a Mat that has the right size already, and fresh memory of some MB costs
 * page faults (results/h200/motion/motion_opencv_arrays.txt). */
struct pictures {
    cv::Mat gray, blurred, background, difference, mask, closed, opened, labels, stats, centroids;
};

struct state {
    struct motion_params params;
    struct pictures *pictures;
    struct image mean;      /* of background=mean, which is ours: OpenCV's running mean is in floating point */
    struct image submitted; /* the pixels are the caller's */
};

static cv::Mat wrap(const struct image *image)
{
    return cv::Mat(image->height, image->width, CV_8UC3, image->data, image->stride);
}

/* The image that a Mat of bytes is. */
static struct image image_of(const cv::Mat &mat)
{
    return {mat.cols, mat.rows, 1, PIXEL_U8, mat.step[0], mat.data};
}

static void blur(const struct state *state, const struct image *frame, cv::Mat &result)
{
    step_begin("grayscale", nullptr);
    cv::cvtColor(wrap(frame), state->pictures->gray, cv::COLOR_RGB2GRAY);
    step_begin("blur", nullptr);
    cv::GaussianBlur(state->pictures->gray, result, cv::Size(state->params.ksize, state->params.ksize),
                     state->params.sigma, state->params.sigma, cv::BORDER_REPLICATE);
}

/* Rows of the table (boxes.h) by the raster index of each component's first pixel. */
static void write_table(const struct state *state, const cv::Mat &labels, const cv::Mat &stats,
                        const cv::Mat &centroids, struct image *result)
{
    struct row {
        int first, label;
    };
    std::vector<row> rows;

    for (int label = 1; label < stats.rows; label++) {
        const int *box = stats.ptr<int>(label), *pixel = labels.ptr<int>(box[cv::CC_STAT_TOP]);
        int x = box[cv::CC_STAT_LEFT];
        if (box[cv::CC_STAT_AREA] < state->params.min_area)
            continue;
        while (pixel[x] != label)
            x++;
        rows.push_back({box[cv::CC_STAT_TOP] * labels.cols + x + 1, label});
    }
    std::sort(rows.begin(), rows.end(), [](const row &a, const row &b) { return a.first < b.first; });
    image_fill(result, 0);
    *(int32_t *)image_row(result, 0) = (int32_t)rows.size();
    for (size_t i = 0; i < rows.size() && (int)i < state->params.max_boxes; i++) {
        const int *box = stats.ptr<int>(rows[i].label);
        const double *centroid = centroids.ptr<double>(rows[i].label);
        int32_t *out = (int32_t *)image_row(result, (int)i + 1);
        out[0] = rows[i].first;
        out[1] = box[cv::CC_STAT_LEFT];
        out[2] = box[cv::CC_STAT_TOP];
        out[3] = box[cv::CC_STAT_WIDTH];
        out[4] = box[cv::CC_STAT_HEIGHT];
        out[5] = box[cv::CC_STAT_AREA];
        out[6] = (int32_t)std::floor(256 * centroid[0] + 0.5);
        out[7] = (int32_t)std::floor(256 * centroid[1] + 0.5);
    }
}

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    try {
        cv::setNumThreads(omp_get_max_threads());
        state->params = *params;
        if (!state->pictures)
            state->pictures = new struct pictures;
        blur(state, first, state->pictures->background);
        if (motion_has_running_mean(params)) {
            const struct image background = image_of(state->pictures->background);
            if (!state->mean.data)
                TRY(image_create(&state->mean, first->width, first->height, 1, PIXEL_U16));
            motion_mean_start(&state->mean, &background);
        }
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
out:
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->submitted = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    const struct motion_params *params = &state->params;

    try {
        const cv::Mat disk =
            cv::getStructuringElement(params->shape == MORPHOLOGY_DISK ? cv::MORPH_ELLIPSE : cv::MORPH_RECT,
                                      cv::Size(params->disk, params->disk));
        struct pictures *pictures = state->pictures;

        blur(state, &state->submitted, pictures->blurred);
        step_begin("absdiff", nullptr);
        cv::absdiff(pictures->blurred, pictures->background, pictures->difference);
        step_begin("threshold", nullptr);
        cv::threshold(pictures->difference, pictures->mask, params->value, 255,
                      cv::THRESH_BINARY | (params->value == MOTION_VALUE_OTSU ? cv::THRESH_OTSU : 0));
        step_begin("close", nullptr);
        cv::morphologyEx(pictures->mask, pictures->closed, cv::MORPH_CLOSE, disk);
        if (motion_has_opening(params)) {
            step_begin("open", nullptr);
            cv::morphologyEx(pictures->closed, pictures->opened, cv::MORPH_OPEN, disk);
        }
        step_begin("labelling", nullptr);
        cv::connectedComponentsWithStats(motion_has_opening(params) ? pictures->opened : pictures->closed,
                                         pictures->labels, pictures->stats, pictures->centroids, params->connectivity,
                                         CV_32S);
        step_begin("boxes", nullptr);
        write_table(state, pictures->labels, pictures->stats, pictures->centroids, result);
        if (motion_has_running_mean(params)) {
            const struct image gray = image_of(pictures->blurred);
            struct image background = image_of(pictures->background);
            step_begin("mean", nullptr);
            motion_mean_update(&state->mean, &gray, &background, params->rate, 0, background.height);
        }
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "OpenCV: %s", error.err.c_str());
    }
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    delete state->pictures;
    image_free(&state->mean);
    *state = {};
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1)
