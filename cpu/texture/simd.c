/*
 * Idea:     every step by vectors.
 * Changed:  grayscale is cpu/simd, lbp cpu/chains, nearest cpu/prefetch.
 * Expect:   15 times omp: 3 ms for lbp, 4 for nearest, 1 for grayscale at 4032x3024, two thirds of it moving 24 MB of
 *           histograms out and in again.
 * Result:   10 times omp (results/cpu2/texture/texture_4032x3024.json): 145 pictures of 4032x3024 a second.
 */
/* Try: make bench-texture VERSIONS=cpu */
#include "common/algo/texture.h"

static const struct texture_versions versions = {
    .grayscale = "cpu/simd", .lbp = "cpu/simd", .nearest = "cpu/simd"};

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
