/*
 * Problem:  cuda/v1.0 allocates and frees device memory in every call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state. The steps are the cuda/v1.1 versions, with the same kernels.
 * Expect:   Allocation vanishes from every call but the first; kernels and transfers do not change.
 * Result:   Kernels as fast as in cuda/v1.0; end to end the ranges overlap
 *           (results/h100/texture/texture_4032x3024_climb.json).
 * Run:      make diff-texture A=cuda/v1.0 B=cuda/v1.1
 */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.1", .lbp = "cuda/v1.1", .nearest = "cuda/v1.1"};

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
