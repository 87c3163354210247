/*
 * Idea:     The steps of texture (grayscale, lbp, nearest) label each patch of 16x16 pixels.
 *           Smoothing, threshold, labelling and boxes follow on the map of patches. Each step is
 *           the cpu/serial version of its own ladder. This is the reference of all other versions.
 * Expect:   All of the time is texture's: a patch is 256 pixels, and what follows works on patches.
 * Result:   487 ms at 4032x3024 (results/h100/barcode/barcode_4032x3024.json), of which texture's
 *           share is not measured.
 * Run:      make bench-barcode VERSIONS=cpu
 */
#include "common/algo/barcode.h"

static const struct texture_versions versions = {
    .grayscale = "cpu/serial", .lbp = "cpu/serial", .nearest = "cpu/serial"};

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
        TRY(barcode_open(&state->barcode, &out[BARCODE_SCORE], params, "cpu/serial"));
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
