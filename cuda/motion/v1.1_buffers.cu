/*
 * Problem:  In cuda/v1.0 allocation and the blurred background take more of each frame than the
 *           kernels.
 * Idea:     Persistent buffers: allocate and compute the background when the video starts. A frame
 *           is then one upload, the kernels, and one download of its components (a number per
 *           pixel).
 * Expect:   At least 2 times as fast as cuda/v1.0: over half of a frame's work goes.
 * Result:   1.8 times as fast as cuda/v1.0 (results/h100/motion/motion_596x336.json).
 * Run:      make diff-motion A=cuda/v1.0 B=cuda/v1.1
 */
#include "cuda/motion/shared/detector.h"

static const struct detector_rung rung = {.id = "cuda/v1.1", .others = "cuda/v1.1", .boxes = "cpu/simd"};

struct state {
    struct detector detector;
    struct image submitted; /* not yet received; the pixels are the caller's */
};

static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    if (!detector_is_open(&state->detector))
        TRY(detector_open(&state->detector, &rung, first, params));
    TRY(detector_background(&state->detector, first));
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
    return detector_detect(&state->detector, &state->submitted, result);
}

static void teardown(struct state *state)
{
    detector_free(&state->detector);
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true)
