/*
 * Problem:  cpu/omp is compute-bound: nearest has 64-bit differences, lbp a branch per neighbour.
 * Idea:     The vector version of every step: an instruction computes many pixels. lbp counts in
 *           bytes.
 * Expect:   18 times as fast as cpu/omp, as texture: 15 times by vectors, 1.2 by byte counters.
 * Result:   12.7 times as fast as cpu/omp with 16 threads, 3.1 ms
 *           (results/h100/barcode/barcode_4032x3024.json).
 * Run:      make diff-barcode A=cpu/omp B=cpu/simd
 */
#include "common/algo/barcode.h"

static const struct texture_versions versions = {
    .grayscale = "cpu/simd", .lbp = "cpu/byte_counters", .nearest = "cpu/simd"};

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
