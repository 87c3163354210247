/*
 * Idea:     a block asks for all lines of its patches before it counts the first code. A multiprocessor has all of its
 *           warps at once, and each of them waited for memory anew at every line.
 * Changed:  texture_lanes_launch() ahead: a lane asks for its lines by prefetches to the second-level cache, and the block waits
 *           for the centroids behind the counting, not before.
 * Expect:   1.3 times v2.4: 12 us of its 28 are the picture's way from memory, behind which counting hides.
 * Result:   no faster at 1920x1080: 10.7 us in place of 10.5 on an H100 (results/h100/texture/texture_1920x1080.json). The way from
 *           memory is not what v2.4 waits for there.
 */
/* Try: make bench-texture VERSIONS=cuda
 *      make tune-texture V=cuda/v2.5 SVG=heat.svg */
#include "common/cuda/streams_queue.h"
#include "cuda/texture/shared/lanes.h"

static int warps = TEXTURE_LANES_WARPS;
static const int some_warps[] = {4, 8, 12, 16, 20, TEXTURE_LANES_WARPS, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block at most, each with 16 patches"},
                                    {}};

struct state {
    struct texture_operands operands;
};

static enum status setup(struct state *state, const struct image[], const struct texture_params *params)
{
    return texture_operands_create(&state->operands, &params->centroids);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct texture_params *params, cudaStream_t stream)
{
    return texture_lanes_launch(&state->operands, in, out, 8 << params->patch_index, warps, true, stream);
}

static void teardown(struct state *state)
{
    texture_operands_free(&state->operands);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(texture, .unavailable = unavailable, .tunables = tunables, .queue = &streams_queue)
