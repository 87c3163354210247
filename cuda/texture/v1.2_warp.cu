/*
 * Problem:  nearest is nearly all of cuda/v1.1's kernel time: 256 threads wait to add to one sum.
 * Idea:     The steps are cuda/v1.2 of their ladders. In nearest a warp takes a patch and adds up
 *           by shuffles instead of atomics, so no thread waits for another.
 * Expect:   10 times as fast as cuda/v1.1, as nearest is most of it.
 * Result:   33 times as fast as cuda/v1.1, 435 us, the kernels
 *           (results/h100/texture/texture_4032x3024_climb.json): nearest alone gains 38 times
 *           (results/h100/nearest/nearest_252x189.json).
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
