/*
 * Idea:     NPP's other Gaussian, FilterGaussBorder, whose weights are built in.
 * Changed:  from peer/npp: the function. It knows ksize up to 15 and one sigma for each, 0.4 + 0.2 * ksize: its manual
 *           says 0.4 + 0.6 * (ksize / 2), but that is not what its answer to a step from black to white is.
 * Expect:   some 140 us at 3840x2160 and ksize 15 where peer/npp takes 240, for constants need not be loaded; two grey
 *           levels off in places: it drops the fraction, and its weights are not rounded to 1/256.
 */
/* Try: rungs bench blur --versions peer/npp,peer/npp_fixed -p ksize=15 -p sigma=3.4 */
#include <math.h>
#include <nppi_filtering_functions.h>

#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct state {
    bool ready;
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
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    static const NppiMaskSize masks[] = {NPP_MASK_SIZE_3_X_3,  NPP_MASK_SIZE_5_X_5,   NPP_MASK_SIZE_7_X_7,
                                         NPP_MASK_SIZE_9_X_9,  NPP_MASK_SIZE_11_X_11, NPP_MASK_SIZE_13_X_13,
                                         NPP_MASK_SIZE_15_X_15};
    const auto filter = in->channels == 1 ? nppiFilterGaussBorder_8u_C1R_Ctx : nppiFilterGaussBorder_8u_C3R_Ctx;

    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(filter((const Npp8u *)in->data, (int)in->stride, {in->width, in->height}, {0, 0}, (Npp8u *)out->data,
                          (int)out->stride, {out->width, out->height}, masks[(params->ksize - 3) / 2],
                          NPP_BORDER_REPLICATE, state->context)));
out:
    return status;
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct blur_params *params = (const struct blur_params *)params_erased;

    (void)in;
    if (params->ksize > 15)
        return "NPP's fixed Gaussian ends at ksize 15";
    if (fabs(params->sigma - (0.4 + 0.2 * params->ksize)) > 1e-6)
        return "NPP's fixed Gaussian has one sigma for each ksize, 0.4 + 0.2 * ksize";
    return NULL;
}

RUNGS_CUDA_VERSION(blur, .declines = declines, .tolerance = 2)
