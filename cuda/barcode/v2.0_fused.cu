/*
 * Idea:     one kernel from the picture to the labels of the patches, as in texture's v2.1; what follows works on a map a 256th as
 *           large.
 * Changed:  texture_fused_launch() in the place of three steps. The steps of the map are the ones that are short on a map of
 *           100x75, not those for large pictures.
 * Expect:   3 times v1.3: 3 us for the labels of 1600x1200, and the launches of the map's steps, some 10 of 2 us.
 * Result:   3.0 times v1.3, 153 us for 4032x3024 (results/h200/barcode/barcode_4032x3024.json).
 */
/* Try: make bench-barcode VERSIONS=cuda */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/fused.h"

enum { WARPS = 8 /* of a block, each with a patch */ };

static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.2", .threshold = "cuda/v1.3", .labelling = "cuda/v1.2", .boxes = "cuda/v1.3"};

struct state {
    struct texture_table table;
    struct finder finder;
};

static enum status setup(struct state *state, const struct image in[], const struct barcode_params *params)
{
    enum status status = STATUS_OK;

    TRY(texture_table_create(&state->table, &params->model));
    TRY(finder_open(&state->finder, in, params, &finder_versions, NULL));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct barcode_params *, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(texture_fused_launch(&state->table, in, &state->finder.labels, BARCODE_PATCH, WARPS, stream));
    TRY(finder_launch(&state->finder, in->width, in->height, out, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    texture_table_free(&state->table);
    finder_close(&state->finder);
}

RUNGS_CUDA_VERSION(barcode)
