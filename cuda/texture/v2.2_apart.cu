/*
 * Idea:     three kernels in place of the fused one, each the fastest of its step: to write gray and histograms to
 *           memory costs less than the fused one loses by additions that meet in shared memory and by products without
 *           tensor cores.
 * Changed:  lbp is cuda/v2.5, nearest cuda/v2.0.
 * Expect:   2.2 times v2.1: 14 us for gray, 16 for histograms and 11 for labels, and a launch between them.
 * Result:   45.6 us, 2.1 times v2.1 (results/h200/texture/texture_4032x3024.json), as predicted.
 * From:     cuda/v2.0
 */
/* Try: make bench-texture VERSIONS=cuda */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v2.1", .nearest = "cuda/v1.3"};

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

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(texture, .unavailable = unavailable)
