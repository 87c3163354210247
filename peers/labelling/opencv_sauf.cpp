/*
 * Idea:     OpenCV's second algorithm: scan and array-based union-find, pixel by pixel with a decision tree that looks
 *           at few neighbours (Wu, Otoo and Suzuki, Optimizing two-pass connected-component labeling algorithms, 2009).
 * Changed:  not ours; asked for by name, where peer/opencv takes the default.
 * Expect:   1.5 times peer/opencv's time: four times as many steps, each of them shorter.
 * Result:   missed: 2.45 ms, peer/opencv 2.26 on one thread (results/cpu2/labelling/labelling_1920x1080_1.json).
 */
/* Try: make bench-labelling VERSIONS=cpu/row_lists,peer/opencv */
#include "peers/labelling/opencv_algorithms.h"

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    return opencv_label(in, out, params, cv::CCL_SAUF);
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only, .normalise = labelling_normalise)
