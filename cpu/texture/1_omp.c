/*
 * Problem:  cpu/serial uses one core.
 * Idea:     The steps are the cpu/omp versions of their ladders: each gives every thread rows.
 * Expect:   The speedup over cpu/serial is the number of cores.
 * Result:   11 times as fast as cpu/serial with 16 threads, 39 ms
 *           (results/h100/texture/texture_4032x3024_climb.json).
 * Run:      make diff-texture A=cpu/serial B=cpu/omp
 */
#include "common/algo/texture.h"

static const struct texture_versions versions = {.grayscale = "cpu/omp", .lbp = "cpu/omp", .nearest = "cpu/omp"};

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
