/*
 * Problem:  In cuda/v1.1 blur, close and open take 80 % of the kernels' time: a thread loads every
 *           neighbour of its pixel from global memory.
 * Idea:     These three steps become the cuda/v1.2 versions of their ladders, which read neighbours
 *           from a tile in shared memory. The other steps stay cuda/v1.1.
 * Expect:   The three steps become 2 times as fast, the frame less: transfers and boxes stay.
 * Result:   1.1 times as fast as cuda/v1.1 (results/h100/motion/motion_1920x1080.json); the three
 *           steps take 0.76 ms instead of 1.43 ms.
 * Run:      make diff-motion A=cuda/v1.1 B=cuda/v1.2
 */
#include "cuda/motion/shared/detector.h"

static const struct detector_rung rung = {.id = "cuda/v1.2", .others = "cuda/v1.1", .boxes = "cpu/simd"};

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
