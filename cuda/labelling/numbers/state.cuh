/*
 * state.cuh: what the run-based rungs that number components keep between calls.
 */
#ifndef RUNGS_LABELLING_STATE_CUH
#define RUNGS_LABELLING_STATE_CUH

#include "cuda/labelling/numbers/numbers.h"
#include "cuda/labelling/steps/words.cuh"

struct state {
    unsigned *bits; /* device: words_per_row a row */
    int *parent;    /* device: by raster index, but only runs' first pixels have one */
    int *ready;     /* device: for each tile of at least 256x8 pixels 0, where tiles are joined as they get ready */
    struct numbers numbers;
};

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;
    const size_t tiles = (size_t)ceiling_divide(in->width, 256) * ceiling_divide(in->height, 8);

    TRY(numbers_setup(&state->numbers, in, params));
    if (!state->bits)
        TRY(device_allocate((void **)&state->bits, (size_t)words_per_row(*in) * in->height * sizeof(unsigned)));
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
    if (!state->ready) {
        TRY(device_allocate((void **)&state->ready, tiles * sizeof(int)));
        CUDA_TRY(cudaMemset(state->ready, 0, tiles * sizeof(int)));
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->bits);
    device_free(state->parent);
    device_free(state->ready);
    numbers_free(&state->numbers);
}

#endif
