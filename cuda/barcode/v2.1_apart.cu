/*
 * Idea:     the labels come from three kernels again, as in texture's v2.2: to write gray and histograms to memory
 *           costs less than the fused kernel loses by additions that meet in shared memory and by products without
 *           tensor cores.
 * Changed:  textures_launch() in the place of texture_fused_launch().
 * Expect:   1.5 times v2.0: 40 us for the labels of 4032x3024 in the place of 96.
 * Result:   103 us, 1.48 times v2.0 (results/h200/barcode/barcode_4032x3024_apart.json), as predicted.
 */
/* Try: make bench-barcode VERSIONS=cuda */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v2.1", .nearest = "cuda/v1.3"};
static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.2", .threshold = "cuda/v1.3", .labelling = "cuda/v1.2", .boxes = "cuda/v1.3"};

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

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(barcode, .unavailable = unavailable)
