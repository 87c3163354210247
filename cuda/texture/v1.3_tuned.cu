/*
 * Problem:  lbp and nearest take nearly all of cuda/v1.2's 435 us, far more than their bytes need.
 * Idea:     The fastest kernels of each ladder: lbp is cuda/v2.1, which computes codes in
 *           registers, nearest is cuda/v1.3, on tensor cores. Their block sizes are tunables (2
 *           warps, 256 threads).
 * Expect:   10 times as fast as cuda/v1.2: 14 us for gray, 16 for histograms and 11 for labels.
 * Result:   8.1 times as fast as cuda/v1.2, 54 us, the kernels
 *           (results/h100/texture/texture_4032x3024_climb.json).
 * Run:      make tune-texture V=cuda/v1.3 SVG=heat.svg
 */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v2.1", .nearest = "cuda/v1.3"};

static int warps = 2, threads = 256;
static const int some_warps[] = {1, 2, 0}, some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block of lbp"},
                                    {"threads", &threads, some_threads, "threads of a block of nearest"},
                                    {}};

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

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(texture, .unavailable = unavailable, .tunables = tunables)
