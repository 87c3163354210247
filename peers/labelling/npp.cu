/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, LabelMarkersUF (Chen's union-find in tiles), then
 *           CompressMarkerLabelsUF, which gives the regions the numbers 1, 2, 3 ... in an order of its own.
 * Changed:  not ours; it gets the same device images. It joins pixels of equal value, background too, not of any value
 *           above 0, so the mask goes through nppiCompareC first. Its labels are put into our order after the call, for
 *           the comparison only, and not in its time. It wants rows without padding, so a copy follows.
 * Expect:   640 us at 3840x2160 for the labels, of which the comparison takes 6, and the copy 16; numbers 100 us more.
 *           cuda/v2.0 should be 10 times faster.
 */
/* Try: make bench-labelling VERSIONS=cuda/v1.3,cuda/v2.0,peer/npp */
#include <nppi_filtering_functions.h>
#include <nppi_threshold_and_compare_operations.h>

#include "common/algo/labelling.h"
#include "common/cuda/device.h"

struct state {
    NppStreamContext context;
    Npp8u *scratch, *numbers; /* device: what the two functions work in */
    Npp32u *packed;           /* device: labels, rows without padding */
    struct image mask;
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
    int scratch_bytes, numbers_bytes;

    (void)params;
    if (state->mask.data)
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
    TRY(npp_status(nppiCompressMarkerLabelsGetBufferSize_32u_C1R(in->width * in->height, &numbers_bytes)));
    TRY(device_allocate((void **)&state->scratch, scratch_bytes));
    TRY(device_allocate((void **)&state->numbers, numbers_bytes));
    TRY(device_allocate((void **)&state->packed, (size_t)in->width * in->height * sizeof *state->packed));
    TRY(device_image_create(&state->mask, in));
out:
    return status;
}

/* Waits in the middle, for NPP hands the number of regions to the host: not to be recorded in a graph. */
static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const size_t row_bytes = in->width * sizeof *state->packed;
    const NppiSize size = {in->width, in->height};
    int regions;

    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiCompareC_8u_C1R_Ctx((const Npp8u *)in->data, (int)in->stride, 0, (Npp8u *)state->mask.data,
                                           (int)state->mask.stride, size, NPP_CMP_GREATER, state->context)));
    TRY(npp_status(nppiLabelMarkersUF_8u32u_C1R_Ctx(
        (Npp8u *)state->mask.data, (int)state->mask.stride, state->packed, (int)row_bytes, size,
        params->connectivity == 8 ? nppiNormInf : nppiNormL1, state->scratch, state->context)));
    TRY(npp_status(nppiCompressMarkerLabelsUF_32u_C1IR_Ctx(state->packed, (int)row_bytes, size, in->width * in->height,
                                                           &regions, state->numbers, state->context)));
    CUDA_TRY(cudaMemcpy2DAsync(out->data, out->stride, state->packed, row_bytes, row_bytes, in->height,
                               cudaMemcpyDeviceToDevice, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->scratch);
    device_free(state->numbers);
    device_free(state->packed);
    device_image_free(&state->mask);
}

/* Regions may be counted from 0, which labelling_normalise() takes for none. */
static void normalise(const struct image in[], struct image *out, const void *params)
{
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            ((int32_t *)image_row(out, y))[x]++;
    labelling_normalise(in, out, params);
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct labelling_params *)params)->statistics ? "gathers no statistics" : NULL;
}

RUNGS_CUDA_VERSION(labelling, .declines = declines, .normalise = normalise)
