/*
 * state.cuh: what the run-based rungs that number components keep between calls.
 */
#ifndef RUNGS_LABELLING_STATE_CUH
#define RUNGS_LABELLING_STATE_CUH

#include "cuda/labelling/shared/numbers.h"
#include "cuda/labelling/shared/words.cuh"

struct state {
    unsigned *bits; /* device: words_per_row a row */
    int *parent;    /* device: by raster index, but only runs' first pixels have one */
    struct numbers numbers;
};

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    TRY(numbers_setup(&state->numbers, in, params));
    if (!state->bits)
        TRY(device_allocate((void **)&state->bits, (size_t)words_per_row(*in) * in->height * sizeof(unsigned)));
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->bits);
    device_free(state->parent);
    numbers_free(&state->numbers);
}

#endif
