/*
 * Idea:     boxes of patches become boxes of pixels.
 * Changed:  they are not cut off at the picture's right side, where a patch is not whole.
 * Expect:   table
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
    for (int row = 1; row <= slot_table_rows(&out[BARCODE_BOXES]); row++) {
        int32_t *box = image_row(&out[BARCODE_BOXES], row);
        box[2] = lbp_patches(box[2], BARCODE_PATCH) * BARCODE_PATCH;
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    texture_close(&state->texture);
    barcode_close(&state->barcode);
}

RUNGS_CPU_VERSION_WITH_STATE(barcode)
