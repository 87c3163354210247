/*
 * Idea:     the state remembers where the input lies.
 * Changed:  later calls read there, although their input lies elsewhere.
 * Expect:   keeps a pointer to the input of an earlier call
 */
#include "tests/mutants/blur/mutant.h"

struct state {
    struct image in;
};

static enum status run(struct state *state, const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (!state->in.data)
        state->in = *in;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(&state->in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    (void)state;
}

RUNGS_CPU_VERSION_WITH_STATE(blur)
