/*
 * Problem:  nearest is nearly all of the kernels' time: 256 threads wait to add to one sum.
 * Idea:     The cuda/v1.2 steps: 16 bytes per load for gray, all threads clear and copy bins for
 *           lbp, one warp per patch for nearest.
 * Expect:   10 times as fast as cuda/v1.1: nearest is most of it, and its threads no longer wait
 *           for one sum.
 * Result:   33 times as fast as cuda/v1.1, the kernels
 *           (results/h200/texture/texture_4032x3024.json).
 * Run:      make diff-texture A=cuda/v1.1 B=cuda/v1.2
 */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.2", .lbp = "cuda/v1.2", .nearest = "cuda/v1.2"};

struct state {
    struct textures textures;
};

static enum status setup(struct state *state, const struct image in[], const struct texture_params *params)
{
    return textures_open(&state->textures, in, 8 << params->patch_index, &params->centroids, &versions, NULL);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct texture_params *, cudaStream_t stream)
{
    return textures_launch(&state->textures, in, out, stream);
}

static void teardown(struct state *state)
{
    textures_close(&state->textures);
}

RUNGS_CUDA_VERSION(texture)
