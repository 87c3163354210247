/*
 * Idea:     one kernel from the picture to the labels: a warp makes gray, codes and histogram of its patch in shared memory, and
 *           finds the centroid before it lets go of them. A patch leaves one byte.
 * Changed:  texture_fused_launch() in the place of the steps (shared/fused.cu); the products go over bins that are not empty.
 * Expect:   36 MB in and 48 KB out at 4032x3024 in the place of 132 MB: 15 us. What limits is one addition in shared memory a
 *           pixel, as in lbp, and some 60 bins a patch with two loads of 64 bytes each.
 * Result:   96 us, 4 times v2.0, and 6 times what was expected (results/h200/texture/texture_4032x3024.json).
 */
/* Try: make bench-texture VERSIONS=cuda
 *      make tune-texture V=cuda/v2.1 SVG=heat.svg */
#include "cuda/texture/shared/fused.h"

static int warps = 8;
static const int some_warps[] = {2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block, each with a patch"}, {}};

struct state {
    struct texture_table table;
};

static enum status setup(struct state *state, const struct image[], const struct texture_params *params)
{
    return texture_table_create(&state->table, &params->centroids);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct texture_params *params, cudaStream_t stream)
{
    return texture_fused_launch(&state->table, in, out, 8 << params->patch_index, warps, stream);
}

static void teardown(struct state *state)
{
    texture_table_free(&state->table);
}

RUNGS_CUDA_VERSION(texture, .tunables = tunables)
