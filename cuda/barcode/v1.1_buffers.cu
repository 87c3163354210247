/*
 * Problem:  cuda/v1.0 allocates and frees the images between the steps, and all else, in every
 *           call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state. The steps are the cuda/v1.1 versions, with the same kernels.
 * Expect:   Allocation vanishes from every call but the first; kernels and transfers do not change.
 * Result:   1.4 ms less, 1.07 times as fast as cuda/v1.0 end to end
 *           (results/h100/barcode/barcode_4032x3024.json).
 * Run:      make diff-barcode A=cuda/v1.0 B=cuda/v1.1
 */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.1", .lbp = "cuda/v1.1", .nearest = "cuda/v1.1"};
static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.1", .threshold = "cuda/v1.1", .labelling = "cuda/v1.1", .boxes = "cuda/v1.1"};

struct state {
    struct textures textures;
    struct finder finder;
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
}

RUNGS_CUDA_VERSION(barcode)
