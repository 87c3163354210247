/*
 * Problem:  The CPU has few cores for 47,628 independent patches.
 * Idea:     Every step is the cuda/v1.0 version of its own ladder: its setup() and launch(), with
 *           one kernel or more. Every call allocates, uploads, runs the steps, downloads and frees.
 * Expect:   Kernels of 1 ms for 1600x1200, nearly all texture's; the allocations take as much.
 * Result:   Kernels of 14.1 ms for 4032x3024 (results/h100/barcode/barcode_4032x3024.json): per
 *           pixel 2.2 times the prediction; the reason is not known.
 * Run:      make bench-barcode VERSIONS=cuda
 */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.0", .lbp = "cuda/v1.0", .nearest = "cuda/v1.0"};
static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.0", .threshold = "cuda/v1.0", .labelling = "cuda/v1.0", .boxes = "cuda/v1.0"};

struct state {
    struct textures textures;
    struct finder finder;
    struct image in, out[2];
};

static enum status setup(struct state *state, const struct image in[], const struct barcode_params *params)
{
    enum status status = STATUS_OK;

    TRY(textures_open(&state->textures, in, BARCODE_PATCH, &params->model, &versions, NULL));
    TRY(finder_open(&state->finder, in, params, &finder_versions, NULL));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct barcode_params *, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(textures_launch(&state->textures, in, &state->finder.labels, stream));
    TRY(finder_launch(&state->finder, in->width, in->height, out, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    textures_close(&state->textures);
    finder_close(&state->finder);
    device_image_free(&state->in);
    for (struct image &out : state->out)
        device_image_free(&out);
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct barcode_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    for (int i = 0; i < 2; i++)
        TRY(device_image_create(&state->out[i], &out[i]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        TRY(device_download(&out[i], &state->out[i]));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(barcode)
