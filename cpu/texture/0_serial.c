/*
 * Idea:     Three steps one after the other: grayscale, lbp, nearest, each the cpu/serial version
 *           of its own ladder. It is the reference of all other versions.
 * Expect:   The sum of its steps: for 4032x3024 lbp 200 ms, nearest with 64 centroids 100 ms,
 *           grayscale 10 ms.
 * Result:   447 ms (results/h100/texture/texture_4032x3024_climb.json); the reason is not known.
 * Run:      make bench-texture VERSIONS=cpu
 */
#include "common/algo/texture.h"

static const struct texture_versions versions = {
    .grayscale = "cpu/serial", .lbp = "cpu/serial", .nearest = "cpu/serial"};

struct state {
    struct texture_steps steps;
};

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct texture_params *params)
{
    const struct image centroids = texture_centroids(&params->centroids);
    enum status status = STATUS_OK;

    if (!state->steps.lbp.version)
        TRY(texture_open(&state->steps, in, 8 << params->patch_index, &versions));
    TRY(texture_run(&state->steps, in, &centroids, out));
out:
    return status;
}

static void teardown(struct state *state)
{
    texture_close(&state->steps);
}

RUNGS_CPU_VERSION_WITH_STATE(texture)
