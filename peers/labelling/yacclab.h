/*
 * yacclab.h: what an algorithm of YACCLAB (Grana, Bolelli, Baraldi and Vezzani, ICPR 2016; BSD licence) needs around it
 * to be called as a peer. `make yacclab` fetches it; nothing of it is in this repository.
 *
 * Its own labeling_algorithms.h and register.h want files, CUDA and OpenCV's codecs, for YACCLAB is a program that
 * finds its algorithms by name. These few declarations stand in their place: the algorithms are templates over a base
 * with a mask in, labels out and a clock.
 */
#ifndef RUNGS_PEERS_LABELLING_YACCLAB_H
#define RUNGS_PEERS_LABELLING_YACCLAB_H

#include <cstring>
#include <map>
#include <numeric>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#define YACCLAB_LABELING_ALGORITHMS_H_
#define YACCLAB_REGISTER_H_
#define REGISTER_SOLVER(algorithm, solver)
#include "performance_evaluator.h"

/* Of 2x2 pixels only one can begin a component. */
#define UPPER_BOUND_8_CONNECTIVITY ((size_t)((img_.rows + 1) / 2) * (size_t)((img_.cols + 1) / 2) + 1)

enum class Connectivity2D { CONN_4, CONN_8 };
enum StepType { ALLOC_DEALLOC, FIRST_SCAN, SECOND_SCAN, ALL_SCANS };
std::string Step(StepType step); /* of its clock, which nobody asks here */

template <Connectivity2D connectivity> struct Labeling2D {
    cv::Mat1b img_;
    cv::Mat1i img_labels_;
    unsigned n_labels_;
    PerformanceEvaluator perf_;
    virtual ~Labeling2D() = default;
};

#include "labels_solver.h"

#include "common/algo/labelling.h"

/* Those of one thread, 8-connected, of labels alone. */
static inline const char *yacclab_declines(const struct image in[], const void *params)
{
    return static_cast<const labelling_params *>(params)->connectivity == 4 ? "is for connectivity 8"
                                                                            : labelling_labels_only(in, params);
}

/* Its algorithms make their image of labels anew in each call, which beyond 32 MB costs more than labelling: they get
 * ours. */
struct yacclab_memory : cv::MatAllocator {
    struct image *labels;

    explicit yacclab_memory(struct image *out) : labels(out)
    {
        cv::Mat::setDefaultAllocator(this);
    }
    ~yacclab_memory() override
    {
        cv::Mat::setDefaultAllocator(nullptr);
    }
    cv::UMatData *allocate(int dims, const int *sizes, int type, void *data, size_t *step, cv::AccessFlag flags,
                           cv::UMatUsageFlags usage) const override
    {
        if (data || dims != 2 || type != CV_32SC1 || sizes[0] != labels->height || sizes[1] != labels->width)
            return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
        cv::UMatData *memory = new cv::UMatData(this);
        memory->data = memory->origdata = static_cast<uint8_t *>(labels->data);
        memory->size = labels->stride * labels->height;
        step[0] = labels->stride;
        step[1] = sizeof(int);
        return memory;
    }
    bool allocate(cv::UMatData *, cv::AccessFlag, cv::UMatUsageFlags) const override
    {
        return true;
    }
    void deallocate(cv::UMatData *memory) const override
    {
        delete memory;
    }
};

template <typename Algorithm> enum status yacclab_run(const struct image *in, struct image *out)
{
    try {
        yacclab_memory memory(out);
        Algorithm algorithm;
        algorithm.img_ = cv::Mat1b(in->height, in->width, static_cast<uint8_t *>(in->data), in->stride);
        algorithm.PerformLabeling();
        if (algorithm.img_labels_.data != out->data)
            return status_set(STATUS_FAILED, "YACCLAB wrote its labels elsewhere than asked");
    } catch (const cv::Exception &error) {
        return status_set(STATUS_FAILED, "YACCLAB: %s", error.err.c_str());
    }
    return STATUS_OK;
}

#endif
