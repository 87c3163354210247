/*
 * Idea:     four rows of patches at a time go through all three steps: their gray lines and histograms, 0.8 MB at 4032 pixels, stay
 *           in the caches of the core that made them.
 * Changed:  a thread has steps of its own and takes rows of patches as it comes free; the steps' own threads rest meanwhile.
 * Expect:   1.2 times bytes: of the 109 MB that the steps move at 4032x3024 all but the picture's 37 stay where they are, 2 ms at the
 *           copy rate.
 * Result:   1.17 times bytes with AVX2, 18.6 ms, 54 pictures of 4032x3024 a second
 *           (results/cpu2_avx2/texture/texture_4032x3024.json), as predicted; no different from bytes with AVX-512
 *           (results/cpu2/texture/texture_4032x3024.json).
 * From:     cpu/bytes
 */
/* Try: make bench-texture VERSIONS=cpu */
#include <omp.h>
#include <stdlib.h>

#include "common/algo/texture.h"

static const struct texture_versions versions = {.grayscale = "cpu/simd", .lbp = "cpu/byte_counters", .nearest = "cpu/simd"};

enum {
    ROWS = 4 /* of patches; with one the table of centroids, which nearest makes in each call, costs what is gained */
};

struct state {
    int threads;
    struct texture_steps *steps; /* of each thread, for the patches of a row */
};

static enum status open_steps(struct state *state, const struct image *strip, int patch)
{
    const int threads = omp_get_max_threads();
    struct texture_steps *steps = realloc(state->steps, (size_t)threads * sizeof *steps);
    enum status status = STATUS_OK;

    if (!steps)
        return status_set(STATUS_NO_MEMORY, "no memory for the steps of %d threads", threads);
    state->steps = steps;
    for (; state->threads < threads; state->threads++) {
        steps[state->threads] = (struct texture_steps){0};
        TRY(texture_open(&steps[state->threads], strip, patch, &versions));
    }
out:
    return status;
}

/* Without a mark: all threads are in several steps at once. */
static enum status run_step(const struct step *step, const struct image in[], struct image *out)
{
    return step->version->run(step->state, in, out, step->params);
}

static enum status run_strip(struct texture_steps *steps, struct image strip, const struct image *centroids,
                             struct image labels)
{
    struct image histograms = steps->histograms;
    enum status status = STATUS_OK;

    if (strip.channels == 3) {
        struct image gray = steps->gray;
        gray.height = strip.height;
        TRY(run_step(&steps->grayscale, &strip, &gray));
        strip = gray;
    }
    histograms.height = labels.height;
    TRY(run_step(&steps->lbp, &strip, &histograms));
    const struct image both[2] = {histograms, *centroids};
    TRY(run_step(&steps->nearest, both, &labels));
out:
    return status;
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct texture_params *params)
{
    const struct image centroids = texture_centroids(&params->centroids);
    const int patch = 8 << params->patch_index;
    struct image first = *in;
    enum status status = STATUS_OK;
    bool failed = false;

    first.height = ROWS * patch;
    if (state->threads < omp_get_max_threads())
        TRY(open_steps(state, &first, patch));
#pragma omp parallel for schedule(dynamic)
    for (int row = 0; row < out->height; row += ROWS) {
        const int rows = out->height - row < ROWS ? out->height - row : ROWS, left = in->height - row * patch;
        struct image strip = *in, labels = *out;
        strip.data = (void *)image_row(in, row * patch);
        strip.height = left < rows * patch ? left : rows * patch;
        labels.data = image_row(out, row);
        labels.height = rows;
        if (run_strip(&state->steps[omp_get_thread_num()], strip, &centroids, labels) != STATUS_OK)
#pragma omp atomic write
            failed = true;
    }
    if (failed)
        status = status_set(STATUS_FAILED, "a step of a row of patches failed");
out:
    return status;
}

static void teardown(struct state *state)
{
    for (int i = 0; i < state->threads; i++)
        texture_close(&state->steps[i]);
    free(state->steps);
}

RUNGS_CPU_VERSION_WITH_STATE(texture)
