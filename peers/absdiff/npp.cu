/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, AbsDiff.
 * Changed:  not ours; it gets the same device images.
 * Expect:   6.5 us at 3840x2160 gray with inputs in the cache; from memory no faster than v1.2, for both only move
 *           bytes. The same to the bit: there is nothing to round.
 */
/* Try: make bench-absdiff VERSIONS=cuda/v1.2,cuda/v1.3,peer/npp */
#include <nppi_arithmetic_and_logical_operations.h>

#include "common/algo/absdiff.h"
#include "common/cuda/device.h"

struct state {
    bool ready;
    NppStreamContext context;
};

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct absdiff_params *params)
{
    enum status status = STATUS_OK;
    NppStreamContext *context = &state->context;
    cudaDeviceProp properties;

    (void)in, (void)params;
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
    state->ready = true;
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct absdiff_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const auto difference = in->channels == 1 ? nppiAbsDiff_8u_C1R_Ctx : nppiAbsDiff_8u_C3R_Ctx;

    (void)params;
    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(difference((const Npp8u *)in[0].data, (int)in[0].stride, (const Npp8u *)in[1].data,
                              (int)in[1].stride, (Npp8u *)out->data, (int)out->stride, {out->width, out->height},
                              state->context)));
out:
    return status;
}

/* What is skipped was wrong in rungs check, and in graphs of calls that return 0: results/h200/absdiff/npp_check.txt */
static const char *declines(const struct image in[], const void *params)
{
    (void)params;
    if (in->channels != 1 || in->width % 4 != 0)
        return "NPP 13.0 leaves the given stream, but for rows of whole words and 1 channel";
    return NULL;
}

RUNGS_CUDA_VERSION(absdiff, .declines = declines)
