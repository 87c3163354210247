/*
 * Idea:     one kernel again, made of the best of v2.2's three. Like them, and unlike v2.1, it loses nothing by
 *           additions that meet in a bank of shared memory or by products without tensor cores; and a patch leaves one
 *           byte in memory.
 * Changed:  texture_lanes_launch() (shared/lanes.cu) in the place of the steps: comparisons of 16-bit numbers as in lbp v2.5, counters
 *           of a byte that each lane has in a bank of its own, and operands of the tensor cores out of them by shuffles.
 * Expect:   2 times v2.3, some 20 us at 4032x3024: 36.6 MB in are 9 us, and 24 MB of gray, 49 of histograms and two launches are gone.
 *           Codes, counts and products of 64 centroids are 2,800 instructions of a warp with 16 patches, 9 us.
 * Result:   1.8 times v2.3 on an H100, 29 us (results/h100/texture/texture_4032x3024.json); from 1920x1080 1.7 times
 *           (texture_1920x1080.json beside it). Pictures a second from page-locked memory are those of v2.3: the upload is what is left.
 */
/* Try: make bench-texture VERSIONS=cuda
 *      make tune-texture V=cuda/v2.4 SVG=heat.svg */
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
    return texture_lanes_launch(&state->operands, in, out, 8 << params->patch_index, warps, false, stream);
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
