/*
 * Problem:  Blur, close and open of cuda/v1.2 have blocks of 32x32: 209 at 596x336, so some of the
 *           132 multiprocessors get two blocks and others one.
 * Idea:     The steps are the cuda/v1.3 versions of their ladders; block_width and block_height are
 *           tunables for all of them. Smaller blocks spread more evenly: 798 of 32x8, the default.
 * Expect:   Little: Huet 2023 gained 14 % with blocks of 16x16.
 * Result:   1.1 times as fast as cuda/v1.2 (results/h100/motion/motion_596x336.json): the
 *           components step takes 67 us instead of 147 us.
 * Run:      make diff-motion A=cuda/v1.2 B=cuda/v1.3
 */
#include "cuda/motion/shared/detector.h"

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 0}, block_heights[] = {4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

static const struct detector_rung rung = {
    .id = "cuda/v1.3", .others = "cuda/v1.3", .boxes = "cpu/simd", .tunables = tunables};

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

RUNGS_PIPELINE_VERSION(motion, .depth = 1, .on_device = true, .tunables = tunables, .illegal = illegal)
