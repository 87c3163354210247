/*
 * Idea:     the kernel that marks pixels also plants the forest of hysteresis, as it has the marks in registers.
 * Changed:  the parents, written for the few pixels that are marked; edges_end_planted(). The rungs above have the same kernel, so it
 *           lies in shared/planted.cu.
 * Expect:   with low, one launch less of four, 2 us, and the mask is read once less; nothing without.
 * Result:   with low 66.8 us in place of 72.5 (results/h200/edges/edges_1920x1080_canny.json); without low 7.8 us, 6 % more than
 *           v2.0 (results/h200/edges/edges_1920x1080.json).
 */
/* Try: make bench-edges VERSIONS=cuda/v2.0,cuda/v2.1 P="low=50 high=150 thin=canny"
 *      make tune-edges V=cuda/v2.1 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"

struct state {
    struct edges_step step;
};

static int block_width = 32, block_height = 4;
static const int widths[] = {8, 16, 32, 64, 128, 0}, heights[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, widths, "threads along x"},
                                    {"block_height", &block_height, heights, "threads along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    return edges_setup(&state->step, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    const dim3 block(block_width, block_height);

    TRY(edges_begin(&state->step, in, params, stream));
    TRY(edges_mark_and_plant(&state->step, in, &mask, params, block, stream));
    TRY(edges_end_planted(&state->step, in, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
}

RUNGS_CUDA_VERSION(edges, .tunables = tunables, .illegal = illegal)
