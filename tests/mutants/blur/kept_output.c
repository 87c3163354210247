/*
 * Idea:     the state remembers where the output lies, and clears its first row before each call.
 * Changed:  it clears the output of the call before, which is the caller's again.
 * Expect:   keeps a pointer to an output
 */
#include <string.h>

#include "tests/mutants/blur/mutant.h"

struct state {
    struct image out;
};

static enum status run(struct state *state, const struct image *in, struct image *out, const struct blur_params *params)
{
    uint16_t weights[BLUR_MAX_KSIZE];

    blur_weights(params, weights);
    if (state->out.data)
        memset(image_row(&state->out, 0), 0, image_row_bytes(&state->out));
    state->out = *out;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++)
                mutant_put(out, x, y, c, mutant_sample(in, weights, params->ksize, x, y, c));
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    (void)state;
}

RUNGS_CPU_VERSION_WITH_STATE(blur)
