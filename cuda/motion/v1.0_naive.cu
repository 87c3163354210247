/*
 * Idea:     every step is a kernel, the cuda/v1.0 version of its ladder, and a frame is computed as if it were the only
 *           one: allocate, upload the first frame and this one, make the background, detect, download, free.
 * Changed:  the seven steps up to the labels moved to the device; boxes stays on the host, as in Huet 2023. A step is
 *           its version's setup() and launch(): what run() of that version does around them, this rung does around all.
 * Expect:   over 100 times the frames of cpu/serial. Half of a frame goes to memory, not to kernels: 15 cudaMalloc and
 *           cudaFree (some 2 ms at 1920x1080) and 19 bytes a pixel through pageable memory.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.0,cuda/v1.1 */
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
