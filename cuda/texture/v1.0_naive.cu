/*
 * Problem:  The CPU has few cores for 47,628 independent patches.
 * Idea:     Every step is a kernel, the cuda/v1.0 version of its own ladder. Every call allocates,
 *           uploads, runs the steps, downloads and frees.
 * Expect:   The sum of its steps, 5 ms for 4032x3024, and as much for transfers and allocations.
 * Result:   Kernels of 14.2 ms (results/h100/texture/texture_4032x3024_climb.json): nearest
 *           compares with 64 centroids, not 16 as in its own ladder, where it takes 3.3 ms.
 * Run:      make bench-texture VERSIONS=cuda
 */
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.0", .lbp = "cuda/v1.0", .nearest = "cuda/v1.0"};

struct state {
    struct textures textures;
    struct image in, out;
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
    device_image_free(&state->in);
    device_image_free(&state->out);
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct texture_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(texture)
