/*
 * Idea:     the fastest version of every step.
 * Changed:  grayscale is cuda/v1.3, lbp cuda/v2.2: a warp a patch, four pixels in a register. There is nothing left to tune.
 * Expect:   lbp twice as fast. 36 MB of picture, 12 of gray, 24 of histograms go out and in: 25 us of 40 are memory.
 * Result:   0.38 ms, 5 % less than v1.3 (results/h200/texture/texture_4032x3024.json): a faster lbp shows little where
 *           nearest takes most.
 */
/* Try: make bench-texture VERSIONS=cuda */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v2.0", .nearest = "cuda/v1.2"};

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
