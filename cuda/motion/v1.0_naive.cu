/*
 * Problem:  cpu/serial detects motion in seconds per frame: blur, close and open are compute-bound.
 * Idea:     The steps up to the components are the cuda/v1.0 kernels of their ladders; the host
 *           makes the boxes. Each frame starts from nothing: allocate, upload, blur the background,
 *           detect, free (shared/detector.cu).
 * Expect:   Over 100 times as fast as cpu/serial; 15 pairs of cudaMalloc and cudaFree, and
 *           transfers, are half of a frame.
 * Result:   519 times as fast as cpu/serial (results/h100/motion/motion_1920x1080.json).
 * Run:      make diff-motion A=cpu/serial B=cuda/v1.0
 */
#include "cuda/motion/shared/detector.h"

static const struct detector_rung rung = {.id = "cuda/v1.0", .others = "cuda/v1.0", .boxes = "cpu/simd"};

struct state {
    struct detector detector;
    struct motion_params params;
    struct image first, submitted; /* the pixels are the caller's */
};

/* A running mean goes on from frame to frame, so it is begun here and kept; a fixed background is made for each. */
static enum status start(struct state *state, const struct image *first, const struct motion_params *params)
{
    enum status status = STATUS_OK;

    state->params = *params;
    state->first = *first;
    if (motion_has_running_mean(params)) {
        TRY(detector_open(&state->detector, &rung, first, params));
        TRY(detector_background(&state->detector, first));
    }
out:
    detector_close(&state->detector);
    return status;
}

static enum status submit(struct state *state, const struct image *frame)
{
    state->submitted = *frame;
    return STATUS_OK;
}

static enum status receive(struct state *state, struct image *result)
{
    enum status status = STATUS_OK;

    TRY(detector_open(&state->detector, &rung, &state->submitted, &state->params));
    if (!motion_has_running_mean(&state->params))
        TRY(detector_background(&state->detector, &state->first));
    TRY(detector_detect(&state->detector, &state->submitted, result));
out:
    detector_close(&state->detector);
    return status;
}

static void teardown(struct state *state)
{
    detector_free(&state->detector);
}

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true)
