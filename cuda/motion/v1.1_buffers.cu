/*
 * Idea:     device memory is allocated and the background processed once, when the video starts.
 * Changed:  start() does what receive() did for every frame: open the steps, allocate, make the background. A frame is
 *           uploaded and its label image downloaded, 7 bytes a pixel, as in Huet 2023.
 * Expect:   frames per second at least double: allocate and free, over half of v1.0's frame, are gone, and so are one
 *           upload, one grayscale and one blur of two. Of the rest, morphology is the largest step, as in Huet 2023.
 * Result:   right in the sum, 1.9 times (results/h200/motion/motion_596x336.json), not in its parts: allocate and free
 *           were more than a third, the second upload a sixth; of the rest, upload and boxes are each larger than close.
 *           boxes is the same code on the host in all four rungs: 219, 125, 97 and 128 us in v1.0 to v1.3, 21 us in
 *           cpu/simd. On one thread v1.0 takes 124 us and v1.3 133 us (boxes_one_thread.txt): no trend is left, so it
 *           is the waking of 16 threads that slept while the host waited. cpu/simd takes 31 us there: its labels are in
 *           the cache, while those of the GPU rungs come from main memory.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.0,cuda/v1.1 */
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
