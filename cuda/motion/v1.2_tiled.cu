/*
 * Idea:     blur and morphology, the steps with a neighbourhood, read it from shared memory, their weights and masks from
 *           constant memory.
 * Changed:  blur, close and open are the cuda/v1.2 versions of their ladders; the other steps stay those of v1.1.
 *           Labelling has a version with tiles in shared memory as well: -p labelling=cuda/v1.2 puts it in.
 * Expect:   blur and both morphology steps take half of their time, as in Huet 2023 (40 and 46 % less). Frames per
 *           second gain less: the transfers, and boxes on the host, stay as they are.
 * Result:   blur 41.5 to 28.3 us, close 83.5 to 46.2 us, frames 1.10 times (results/h200/motion/motion_596x336.json).
 *           With tiles labelling gets slower, 33.2 to 54.0 us (motion_596x336_fd7720c.json there, whose v1.2 has them):
 *           a mask has few, large components; likely a tile's trees save little of what its two barriers cost.
 */
/* Try: make bench-motion VERSIONS=cuda/v1.1,cuda/v1.2; then with P=labelling=cuda/v1.2 */
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
