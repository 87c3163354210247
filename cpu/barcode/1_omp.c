/*
 * Problem:  cpu/serial uses one core.
 * Idea:     The steps are the cpu/omp versions of their ladders, in which threads share the rows.
 * Expect:   The speedup over cpu/serial is the number of cores.
 * Result:   12 times as fast as cpu/serial with 16 threads, 39.6 ms
 *           (results/h100/barcode/barcode_4032x3024.json).
 * Run:      make diff-barcode A=cpu/serial B=cpu/omp
 */
#include "common/algo/barcode.h"

static const struct texture_versions versions = {.grayscale = "cpu/omp", .lbp = "cpu/omp", .nearest = "cpu/omp"};

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
        TRY(barcode_open(&state->barcode, &out[BARCODE_SCORE], params, "cpu/omp"));
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
