/*
 * Idea:     the shape of lbp's blocks can be set, so that a search can find the best for the whole pipeline.
 * Changed:  grayscale and lbp are the cuda/v1.3 versions; lines and patches are tunables, handed on to every step that has them.
 * Expect:   what lbp gains by them, 1.5 times; nearest is now as large a share, and moves its 24 MB of histograms again.
 * Result:   1.08 times v1.2 (results/h200/texture/texture_4032x3024.json): nearest is most of it, and has no tunable here.
 */
/* Try: make bench-texture VERSIONS=cuda */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v1.3", .nearest = "cuda/v1.2"};

static int lines = 4, patches = 4;
static const int some_lines[] = {1, 2, 4, 8, 0}, some_patches[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"lines", &lines, some_lines, "threads for each column of a patch"},
                                    {"patches", &patches, some_patches, "patches of a block of lbp, side by side"},
                                    {}};

static const char *illegal(const struct image[], const void *params)
{
    const int patch = 8 << ((const struct texture_params *)params)->patch_index;

    return device_block_illegal(patch * lines * patches, patches * (LBP_BINS * sizeof(unsigned) + patch * patch));
}

struct state {
    struct textures textures;
};

static enum status setup(struct state *state, const struct image in[], const struct texture_params *params)
{
    return textures_open(&state->textures, in, 8 << params->patch_index, &params->centroids, &versions, tunables);
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

RUNGS_CUDA_VERSION(texture, .tunables = tunables, .illegal = illegal)
