/*
 * mutant_cuda.h: what the CUDA mutants share: the setup() of a CUDA version whose kernel or launch() each of them
 * spoils in its own way. To be included behind struct state; the file itself registers, since its name is the
 * version's.
 */
#ifndef RUNGS_MUTANT_CUDA_H
#define RUNGS_MUTANT_CUDA_H

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

#endif
