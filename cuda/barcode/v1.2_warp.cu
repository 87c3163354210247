/*
 * Problem:  nearest takes nearly all of cuda/v1.1: 256 threads wait to add to one sum atomically.
 * Idea:     The steps are now the cuda/v1.2 of their ladders. To find the nearest centroid a warp
 *           takes a patch and adds up by shuffles, so no atomic addition waits for another.
 * Expect:   5 times as fast as cuda/v1.1, by lbp and nearest. The other steps work on a map of
 *           252x189 patches and take only the time of their launches.
 * Result:   Kernels 29 times as fast as cuda/v1.1, 494 us
 *           (results/h100/barcode/barcode_4032x3024.json): nearest alone gains 38.
 * Run:      make diff-barcode A=cuda/v1.1 B=cuda/v1.2
 */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.2", .lbp = "cuda/v1.2", .nearest = "cuda/v1.2"};
static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.2", .threshold = "cuda/v1.2", .labelling = "cuda/v1.2", .boxes = "cuda/v1.2"};

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
