/*
 * Idea:     device memory is allocated and the background processed once, when the video starts.
 * Changed:  start() does what receive() did for every frame: open the steps, allocate, make the background. A frame is
 *           uploaded and its label image downloaded, 7 bytes a pixel, as in the document.
 * Expect:   frames per second at least double: allocate and free, over half of v1.0's frame, are gone, and so are one
 *           upload, one grayscale and one blur of two. Of the rest, morphology is the largest step, as in the document.
 * Result:   right in the sum, 1.9 times (results/h200/motion/motion_596x336.json), not in its parts: allocate and free
 *           were a fifth, the second upload a seventh; of the rest, upload and boxes are each larger than morphology.
 *           boxes is the same code on the host in v1.0 to v1.3, 237, 195, 139 and 114 us, and 16 us in cpu/simd. Nothing
 *           waits on the device then: the download has returned. Of the region's 275 us (v1.0, 1280x720) its 16 threads
 *           work 55 us each, and the first waits 234 us for the others (results/h200/motion/profile_motion_v1.0.txt).
 *           The likely reason is that they sleep since the frame before, deeper the longer it took; in cpu/simd the
 *           region before is a few us ago. OMP_WAIT_POLICY=active, which keeps them awake, can tell.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.0,cuda/v1.1 */
#include "cuda/motion/steps/detector.h"

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
