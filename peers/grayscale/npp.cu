/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, RGBToGray.
 * Changed:  not ours; it gets the same device images. Its manual gives 0.299 R + 0.587 G + 0.114 B in floats.
 * Expect:   14 us at 3840x2160, half as much again as moving the bytes takes; v2.0 should be well ahead. One grey level
 *           off in places: floats have other last bits than our weights, and the manual does not say how it rounds.
 */
/* Try: make bench-grayscale VERSIONS=cuda/v1.2,cuda/v1.3,peer/npp */
#include <nppi_color_conversion.h>

#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    bool ready;
    NppStreamContext context;
};

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct grayscale_params *params)
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
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)params;
    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiRGBToGray_8u_C3C1R_Ctx((const Npp8u *)in->data, (int)in->stride, (Npp8u *)out->data,
                                              (int)out->stride, {out->width, out->height}, state->context)));
out:
    return status;
}

RUNGS_CUDA_VERSION(grayscale, .tolerance = 1)
