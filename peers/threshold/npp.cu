/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, CompareC with "greater", which gives 255 and 0.
 * Changed:  not ours; it gets the same device images. Three channels are one of three times the width, since NPP's own
 *           three-channel form joins the channels' answers into one. It has no Otsu.
 * Expect:   at the copy rate, as cuda/v1.2 to v2.0 are; some 6 us at 3840x2160.
 */
/* Try: make bench-threshold VERSIONS=cuda/v1.2,cuda/v1.3,peer/npp */
#include <nppi_threshold_and_compare_operations.h>

#include "common/algo/threshold.h"
#include "common/cuda/device.h"

struct state {
    bool ready;
    NppStreamContext context;
};

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct threshold_params *params)
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
                          const struct threshold_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiCompareC_8u_C1R_Ctx(
        (const Npp8u *)in->data, (int)in->stride, (Npp8u)params->value, (Npp8u *)out->data, (int)out->stride,
        {out->width * out->channels, out->height}, NPP_CMP_GREATER, state->context)));
out:
    return status;
}

static const char *declines(const struct image in[], const void *params)
{
    (void)in;
    if (((const struct threshold_params *)params)->value == THRESHOLD_OTSU)
        return "NPP has no Otsu";
    return NULL;
}

RUNGS_CUDA_VERSION(threshold, .declines = declines)
