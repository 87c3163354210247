/*
 * Idea:     fewer instructions where vectors have eight lanes: counters of a byte for lbp, sixteen centroids at a time for nearest.
 * Changed:  lbp is cpu/bytes, nearest cpu/sixteen.
 * Expect:   1.4 times simd with AVX2: lbp takes 6.5 ms in the place of 10.7 (results/cpu2_avx2/lbp/lbp_4032x3024.json), nearest
 *           two thirds of its time.
 * Result:   1.3 times simd with AVX2, 22 ms in the place of 28, 46 pictures of 4032x3024 a second
 *           (results/cpu2_avx2/texture/texture_4032x3024.json); 1.3 times with AVX-512, 188 a second
 *           (results/cpu2/texture/texture_4032x3024.json).
 * From:     cpu/simd
 */
/* Try: make bench-texture VERSIONS=cpu */
#include "common/algo/texture.h"

static const struct texture_versions versions = {.grayscale = "cpu/simd", .lbp = "cpu/byte_counters", .nearest = "cpu/simd"};

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
