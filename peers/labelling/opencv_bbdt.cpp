/*
 * Idea:     OpenCV's third algorithm: 2x2 pixels a step, with a decision tree (Grana, Borghesani and Cucchiara,
 *           Optimized Block-Based Connected Components Labeling With Decision Trees, 2010).
 * Changed:  not ours; asked for by name, where peer/opencv takes the default, which carries knowledge from block to
 *           block besides.
 * Expect:   as long as peer/opencv, within 20 %.
 * Result:   2.24 ms, peer/opencv 2.26 on one thread (results/cpu2/labelling/labelling_1920x1080_1.json).
 */
/* Try: make bench-labelling VERSIONS=cpu/row_lists,peer/opencv */
#include "peers/labelling/opencv_algorithms.h"

static const char *declines(const struct image in[], const void *params)
{
    return static_cast<const labelling_params *>(params)->connectivity == 4 ? "is for connectivity 8"
                                                                            : labelling_labels_only(in, params);
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    return opencv_label(in, out, params, cv::CCL_BBDT);
}

RUNGS_CPU_VERSION(labelling, .declines = declines, .normalise = labelling_normalise)
