/*
 * Idea:     the yardstick on the GPU: the histogram of NVIDIA's NPP, HistogramEven with a level for each grey value.
 * Changed:  not ours, but for the search over the 256 counts: NPP has no Otsu, and whoever takes its histogram has to
 *           add that. It is the ladder's (common/cuda/otsu.cuh), so that only the counting differs.
 * Expect:   counting in shared memory, as cuda/v1.2 does: some 25 us at 3840x2160; cuda/v2.0 should be twice as fast.
 */
/* Try: make bench-otsu VERSIONS=cuda/v1.2,cuda/v2.0,peer/npp */
#include <nppi_statistics_functions.h>

#include "common/algo/otsu.h"
#include "common/cuda/device.h"
#include "common/cuda/otsu.cuh"

struct state {
    bool ready;
    NppStreamContext context;
    Npp8u *scratch;    /* device */
    Npp32s *histogram; /* device */
};

static __global__ void search_kernel(const Npp32s *histogram, struct image out)
{
    __shared__ struct otsu_room room;
    const int threshold = otsu_search((unsigned)histogram[threadIdx.x], &room);

    if (threadIdx.x == 0)
        *(int *)out.data = threshold;
}

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static enum status setup(struct state *state, const struct image in[], const struct otsu_params *params)
{
    enum status status = STATUS_OK;
    NppStreamContext *context = &state->context;
    cudaDeviceProp properties;
    size_t scratch_bytes;

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
    TRY(npp_status(
        nppiHistogramEvenGetBufferSize_8u_C1R_Ctx({in->width, in->height}, OTSU_BINS + 1, &scratch_bytes, *context)));
    TRY(device_allocate((void **)&state->scratch, scratch_bytes));
    TRY(device_allocate((void **)&state->histogram, OTSU_BINS * sizeof *state->histogram));
    state->ready = true;
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct otsu_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)params;
    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiHistogramEven_8u_C1R_Ctx((const Npp8u *)in->data, (int)in->stride, {in->width, in->height},
                                                state->histogram, OTSU_BINS + 1, 0, OTSU_BINS, state->scratch,
                                                state->context)));
    search_kernel<<<1, OTSU_BINS, 0, stream>>>(state->histogram, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->scratch);
    device_free(state->histogram);
}

RUNGS_CUDA_VERSION(otsu)
