/*
 * Idea:     the steps' second kernels: 16 bytes a load for gray, no texton array for lbp, a warp a patch for nearest.
 * Changed:  all steps are the cuda/v1.2 versions of their ladders.
 * Expect:   10 times v1.1's kernels: nearest is most of them, and its 256 threads no longer queue for one sum.
 * Result:   33 times v1.1, 0.43 ms (results/h200/texture/texture_4032x3024.json): nearest had been nearly all.
 */
/* Try: make bench-texture VERSIONS=cuda */
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
