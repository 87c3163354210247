/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, FilterHarrisCornersBorder.
 * Changed:  not ours; it gets the same device images, window, k and scale. It replicates the border, so only the pixels
 *           whose window and gradients lie inside are compared.
 * Expect:   0.11 ms at 3840x2160; v2.2 should take a fifth of that.
 */
/* Try: make bench-harris VERSIONS=cuda,peer/npp P="outputs=response" */
#include <nppi_filtering_functions.h>

#include "common/algo/harris.h"
#include "common/cuda/device.h"

struct state {
    Npp8u *buffer; /* device */
    NppStreamContext context;
};

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    enum status status = STATUS_OK;
    NppStreamContext *context = &state->context;
    cudaDeviceProp properties;
    int bytes = 0;

    (void)params;
    if (state->buffer)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&context->nCudaDeviceId));
    CUDA_TRY(cudaGetDeviceProperties(&properties, context->nCudaDeviceId));
    context->nMultiProcessorCount = properties.multiProcessorCount;
    context->nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context->nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context->nSharedMemPerBlock = properties.sharedMemPerBlock;
    context->nCudaDevAttrComputeCapabilityMajor = properties.major;
    context->nCudaDevAttrComputeCapabilityMinor = properties.minor;
    TRY(npp_status(nppiFilterHarrisCornersBorderGetBufferSize({in->width, in->height}, &bytes)));
    TRY(device_allocate((void **)&state->buffer, (size_t)bytes));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const NppiMaskSize window = params->size == 3 ? NPP_MASK_SIZE_3_X_3 : NPP_MASK_SIZE_5_X_5;

    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiFilterHarrisCornersBorder_8u32f_C1R_Ctx(
        (const Npp8u *)in->data, (int)in->stride, {in->width, in->height}, {0, 0}, (Npp32f *)out->data,
        (int)out->stride, {in->width, in->height}, NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3, window, (Npp32f)params->k,
        params->scale, NPP_BORDER_REPLICATE, state->buffer, state->context)));
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->buffer);
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct harris_params *params = (const struct harris_params *)params_erased;

    if (params->outputs != HARRIS_RESPONSE)
        return "NPP gives the response alone (outputs=response)";
    if (params->gradient != HARRIS_SOBEL || params->window != HARRIS_BOX || (params->size != 3 && params->size != 5))
        return "NPP has Sobel gradients and boxes of 3 and 5";
    if (params->border != HARRIS_REFLECT)
        return "NPP has no frame";
    if (in->width <= params->size + 2 || in->height <= params->size + 2)
        return "its border is another, and all of this picture is border";
    return NULL;
}

RUNGS_CUDA_VERSION(harris, .declines = declines, .tolerance = 1e-5, .compare_interior = true)
