/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, LabelMarkersUF, Chen's union-find in tiles.
 * Changed:  not ours; it gets the same device images. It joins pixels of equal value, background too, not of any value
 *           above 0, so the mask goes through nppiCompareC first. Its labels are raster indices from 0, not always of a
 *           region's first pixel: they are followed to the root and renumbered after the call, for the comparison only,
 *           and not in its time. It wants rows without padding: where ours have some, a copy follows.
 * Expect:   640 us at 3840x2160, of which the comparison takes 6, and the copy of labels (only where the width is no
 *           multiple of 16) 16; cuda/v2.0 should be 15 times faster.
 */
/* Try: make bench-labelling VERSIONS=cuda/v1.3,cuda/v2.0,peer/npp */
#include <nppi_filtering_functions.h>
#include <nppi_threshold_and_compare_operations.h>

#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct state {
    bool ready;
    NppStreamContext context;
    Npp8u *scratch; /* device */
    int *packed;    /* device: labels, rows without padding */
    struct image in, mask, out;
};

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;
    NppStreamContext *context = &state->context;
    cudaDeviceProp properties;
    int scratch_bytes;

    (void)params;
    if (state->ready)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&context->nCudaDeviceId));
    CUDA_TRY(cudaGetDeviceProperties(&properties, context->nCudaDeviceId));
    context->nMultiProcessorCount = properties.multiProcessorCount;
    context->nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context->nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context->nSharedMemPerBlock = properties.sharedMemPerBlock;
    context->nCudaDevAttrComputeCapabilityMajor = properties.major;
    context->nCudaDevAttrComputeCapabilityMinor = properties.minor;
    TRY(npp_status(nppiLabelMarkersUFGetBufferSize_32u_C1R({in->width, in->height}, &scratch_bytes)));
    TRY(device_allocate((void **)&state->scratch, scratch_bytes));
    TRY(device_allocate((void **)&state->packed, (size_t)in->width * in->height * sizeof(int)));
    TRY(device_image_create(&state->mask, in));
    state->ready = true;
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const size_t row_bytes = in->width * sizeof(int);
    const bool direct = out->stride == row_bytes;
    const NppiSize size = {in->width, in->height};

    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiCompareC_8u_C1R_Ctx((const Npp8u *)in->data, (int)in->stride, 0, (Npp8u *)state->mask.data,
                                           (int)state->mask.stride, size, NPP_CMP_GREATER, state->context)));
    TRY(npp_status(nppiLabelMarkersUF_8u32u_C1R_Ctx(
        (Npp8u *)state->mask.data, (int)state->mask.stride, (Npp32u *)(direct ? out->data : state->packed),
        (int)row_bytes, size, params->connectivity == 8 ? nppiNormInf : nppiNormL1, state->scratch, state->context)));
    if (!direct)
        CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, state->packed, row_bytes, row_bytes, in->height,
                                   cudaMemcpyDeviceToDevice, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->scratch);
    device_free(state->packed);
    device_image_free(&state->mask);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    if (!state->out.data)
        TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    return status;
}

/* Follows each label to a pixel that is labelled by itself, and leaves that pixel's raster index + 1, which
 * labelling_normalise() takes. Pixel 0 is the first of its region, be that background, and so tells whether NPP counts
 * from 0 or 1. A label that leads out of the image or to no end stays as it is, and then is wrong. */
static void normalise(const struct image in[], struct image *out, const void *params)
{
    const int width = out->width, pixels = out->width * out->height, base = *(const int *)out->data == 1;

    for (int i = 0; i < pixels; i++) {
        int *own = (int *)image_row(out, i / width) + i % width, at = i, next = *own - base;
        for (int steps = 0; next != at && next >= 0 && next < pixels && steps < 1000; steps++) {
            at = next;
            next = ((const int *)image_row(out, at / width))[at % width] - base;
        }
        if (next == at)
            *own = at + base; /* shortens the way of those that come here */
    }
    for (int i = 0; i < pixels; i++)
        ((int *)image_row(out, i / width))[i % width] += 1 - base;
    labelling_normalise(in, out, params);
}

RUNGS_CUDA_VERSION(labelling, .normalise = normalise)
