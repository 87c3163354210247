/*
 * Idea:     the labels come from one kernel again, texture's v2.5, which has what the three kernels gained: a patch
 *           leaves one byte in memory and no histogram.
 * Changed:  texture_lanes_launch() in the place of textures_launch().
 * Expect:   1.3 times v2.1: some 20 us for the labels of 4032x3024 in the place of 46; the map's steps take 57 as before.
 */
/* Try: make bench-barcode VERSIONS=cuda */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/lanes.h"

static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.2", .threshold = "cuda/v1.3", .labelling = "cuda/v1.2", .boxes = "cuda/v1.3"};

struct state {
    struct texture_operands operands;
    struct finder finder;
};

static enum status setup(struct state *state, const struct image in[], const struct barcode_params *params)
{
    enum status status = STATUS_OK;

    TRY(texture_operands_create(&state->operands, &params->model));
    TRY(finder_open(&state->finder, in, params, &finder_versions, NULL));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct barcode_params *, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(texture_lanes_launch(&state->operands, in, &state->finder.labels, BARCODE_PATCH, TEXTURE_LANES_WARPS, true,
                             stream));
    TRY(finder_launch(&state->finder, in->width, in->height, out, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    texture_operands_free(&state->operands);
    finder_close(&state->finder);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(barcode, .unavailable = unavailable)
