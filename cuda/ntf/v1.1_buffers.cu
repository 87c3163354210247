/*
 * Problem:  cuda/v1.0 allocates and frees its device memory in every call.
 * Idea:     Persistent buffers: the first call allocates, and later calls find the memory in the
 *           state. The updates of the tensor's factors stay as they are.
 * Expect:   A few ms less end to end; that is nothing beside the passes for factors v and w.
 * Result:   0.4 ms less of 646 end to end (results/h100/ntf/ntf_24x16520_rank16.json):
 *           allocation costs less than expected.
 * Run:      make diff-ntf A=cuda/v1.0 B=cuda/v1.1
 */
#include "cuda/ntf/shared/iterate.h"

struct state {
    struct ntf_device device;
    struct device_images images;
};

/* Thread (k, i): the sum over all samples of slice i. */
static __global__ void numerators_kernel(struct image in, int mode, int side, const float *first, const float *second,
                                         int first_side, int second_side, int rank, float *numerators)
{
    const int i = blockIdx.x * blockDim.y + threadIdx.y, k = blockIdx.y * blockDim.x + threadIdx.x;
    double sum = 0;

    if (k >= rank || i >= side)
        return;
    for (int a = 0; a < first_side; a++) {
        float nested = 0;
        for (int b = 0; b < second_side; b++)
            nested += ntf_sample(&in, mode, i, a, b) * second[(size_t)b * rank + k];
        sum += nested * first[(size_t)a * rank + k];
    }
    numerators[(size_t)i * rank + k] = (float)sum;
}

static enum status pass(void *state, struct ntf_device *device, const struct image *in, int mode, cudaStream_t stream)
{
    const int first = mode == 0, second = mode == 2 ? 1 : 2; /* the other two modes */
    enum status status = STATUS_OK;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(device->sides[mode], block.y), ceiling_divide(device->rank, block.x));

    (void)state;
    numerators_kernel<<<grid, block, 0, stream>>>(*in, mode, device->sides[mode], device->factors[first],
                                                  device->factors[second], device->sides[first], device->sides[second],
                                                  device->rank, device->numerators[mode]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct ntf_params *params)
{
    return ntf_device_setup(&state->device, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct ntf_params *params, cudaStream_t stream)
{
    return ntf_device_solve(&state->device, in, out, params, pass, state, stream);
}

static void teardown(struct state *state)
{
    ntf_device_teardown(&state->device);
    device_images_free(&state->images);
}

static enum status run(struct state *state, const struct image in[], struct image *out, const struct ntf_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->images.in->data)
        TRY(device_image_create(state->images.in, in));
    for (int slot = 0; slot <= NTF_ERRORS; slot++)
        if (out[slot].data && !state->images.out[slot].data)
            TRY(device_image_create(&state->images.out[slot], &out[slot]));
    TRY(device_upload(state->images.in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, state->images.in, state->images.out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int slot = 0; slot <= NTF_ERRORS; slot++)
        if (out[slot].data)
            TRY(device_download(&out[slot], &state->images.out[slot]));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(ntf)
