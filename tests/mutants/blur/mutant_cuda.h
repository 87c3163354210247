/*
 * mutant_cuda.h: what the CUDA mutants share: everything of a CUDA version but the kernel and launch(), which each of
 * them spoils in its own way. To be included after launch(); the file itself registers, since
 * its name is the version's.
 */
#ifndef RUNGS_MUTANT_CUDA_H
#define RUNGS_MUTANT_CUDA_H

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    device_image_free(&state->in);
    device_image_free(&state->out);
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct blur_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    if (!state->out.data)
        TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

#endif
