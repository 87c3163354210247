/*
 * Idea:     the fastest version of every step.
 * Changed:  lbp is cpu/chains, all others are cpu/simd.
 * Expect:   15 times omp, as texture: 1600x1200 in a millisecond and a half.
 * Result:   11 times omp (results/cpu2/barcode/barcode_4032x3024.json); 1.7 times OpenCV's detector.
 */
/* Try: make bench-barcode VERSIONS=cpu */
#include "common/algo/barcode.h"

static const struct texture_versions versions = {
    .grayscale = "cpu/simd", .lbp = "cpu/simd", .nearest = "cpu/simd"};

struct state {
    struct texture_steps texture;
    struct barcode_steps barcode;
};

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct barcode_params *params)
{
    const struct image centroids = texture_centroids(&params->model);
    enum status status = STATUS_OK;

    if (!state->barcode.boxes.version) {
        TRY(texture_open(&state->texture, in, BARCODE_PATCH, &versions));
        TRY(barcode_open(&state->barcode, &out[BARCODE_SCORE], params, "cpu/simd"));
    }
    TRY(texture_run(&state->texture, in, &centroids, &state->barcode.labels));
    TRY(barcode_run(&state->barcode, params, in->width, in->height, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    texture_close(&state->texture);
    barcode_close(&state->barcode);
}

RUNGS_CPU_VERSION_WITH_STATE(barcode)
