/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, FilterGaussAdvancedBorder, which takes any weights.
 * Changed:  not ours; it gets the same device images, our weights as floats (k/256) and the same border.
 * Expect:   some 240 us at 3840x2160 and ksize 15, half of v1.3; the tensor cores should be far ahead. It sums in
 *           floats and drops the fraction where we round, so every other sample is one grey level lower.
 */
/* Try: make bench-blur VERSIONS=cuda/v1.3,cuda/v2.0,cuda/v2.2,peer/npp */
#include <nppi_filtering_functions.h>

#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct state {
    float *weights; /* device, ksize of them */
    NppStreamContext context;
};

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;
    NppStreamContext *context = &state->context;
    cudaDeviceProp properties;
    uint16_t weights[BLUR_MAX_KSIZE];
    float scaled[BLUR_MAX_KSIZE];

    (void)in;
    if (state->weights)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&context->nCudaDeviceId));
    CUDA_TRY(cudaGetDeviceProperties(&properties, context->nCudaDeviceId));
    context->nMultiProcessorCount = properties.multiProcessorCount;
    context->nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context->nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context->nSharedMemPerBlock = properties.sharedMemPerBlock;
    context->nCudaDevAttrComputeCapabilityMajor = properties.major;
    context->nCudaDevAttrComputeCapabilityMinor = properties.minor;
    blur_weights(params, weights);
    for (int k = 0; k < params->ksize; k++)
        scaled[k] = (float)weights[k] / 256;
    TRY(device_allocate((void **)&state->weights, sizeof scaled));
    TRY(device_upload_bytes(state->weights, scaled, sizeof scaled));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const auto filter =
        in->channels == 1 ? nppiFilterGaussAdvancedBorder_8u_C1R_Ctx : nppiFilterGaussAdvancedBorder_8u_C3R_Ctx;

    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(filter((const Npp8u *)in->data, (int)in->stride, {in->width, in->height}, {0, 0}, (Npp8u *)out->data,
                          (int)out->stride, {out->width, out->height}, params->ksize, state->weights,
                          NPP_BORDER_REPLICATE, state->context)));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->weights);
}

static const char *declines(const struct image in[], const void *params)
{
    if (in->channels == 1 && ((const struct blur_params *)params)->ksize == 5)
        return "NPP 13.0 is wrong for 5 taps and 1 channel: up to 70 grey levels off, with any weights";
    return NULL;
}

RUNGS_CUDA_VERSION(blur, .declines = declines, .tolerance = 1)
