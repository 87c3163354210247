/*
 * Idea:     the steps' second kernels: neighbourhoods in shared memory, 16 bytes a load, a warp a patch for nearest.
 * Changed:  all steps are the cuda/v1.2 versions of their ladders.
 * Expect:   5 times v1.1's kernels, by lbp and nearest. The map of patches has 100x75 samples: its steps are as long as their
 *           launches take, whatever is in them.
 * Result:   29 times v1.1, 0.49 ms (results/h200/barcode/barcode_4032x3024.json): nearest had been nearly all.
 */
/* Try: make bench-barcode VERSIONS=cuda */
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
