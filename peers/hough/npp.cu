/*
 * Idea:     the yardstick on the GPU: NVIDIA's NPP, FilterHoughLine.
 * Changed:  not ours; it gets the same device image, steps and threshold. Its cells lie elsewhere, for it counts rho
 *           from the centre of the picture, and it gives no votes, so its lines are others: any pass, and only the time
 *           counts. A kernel brings them into the words of the contract, probably 2 us.
 * Expect:   0.28 ms at 1920x1080 with 62,000 points.
 * Result:   929 us for the 224,800 points of the photograph (results/h200/hough/hough_1920x1080.json), 4.1 ns a point.
 */
/* Try: make bench-hough VERSIONS=cuda,peer/npp */
#include <nppi_filtering_functions.h>

#include "common/algo/hough.h"
#include "common/cuda/device.h"

struct state {
    Npp8u *buffer;        /* device */
    NppPointPolar *lines; /* device */
    int *count;           /* device */
    NppStreamContext context;
};

enum { ROOM = 1 << 20 /* lines: it finds tens of thousands in a photograph */ };

static enum status npp_status(NppStatus result)
{
    return result < 0 ? status_set(STATUS_FAILED, "NPP: status %d (nppdefs.h)", (int)result) : STATUS_OK;
}

static NppPointPolar delta_of(const struct hough_params *params)
{
    return {(Npp32f)params->rho, 180.0f / (Npp32f)params->theta_steps};
}

/* NPP counts rho from the centre of the picture, and adds 0.71 times the longer side so that it is not negative. */
static __global__ void table_kernel(struct image table, const NppPointPolar *lines, const int *count, int width,
                                    int height)
{
    const int maximum = table.height - 1, used = min(*count, maximum);

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= maximum; i += gridDim.x * blockDim.x) {
        float *row = (float *)image_row(&table, i), sine = 0, cosine = 0;
        row[0] = row[1] = row[2] = 0;
        if (i == 0) {
            row[0] = (float)used;
        } else if (i <= used) {
            sincospif(lines[i - 1].theta / 180, &sine, &cosine);
            row[0] = lines[i - 1].rho - 0.70710678f * (float)max(width, height) + 0.5f * (float)width * cosine +
                     0.5f * (float)height * sine;
            row[1] = lines[i - 1].theta * 0.017453293f;
        }
    }
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    enum status status = STATUS_OK;
    NppStreamContext *context = &state->context;
    cudaDeviceProp properties;
    int bytes = 0;

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
    TRY(npp_status(nppiFilterHoughLineGetBufferSize({in->width, in->height}, delta_of(params), ROOM, &bytes)));
    TRY(device_allocate((void **)&state->lines, ROOM * sizeof *state->lines));
    TRY(device_allocate((void **)&state->count, sizeof *state->count));
    CUDA_TRY(cudaMemset(state->count, 0, sizeof *state->count));
    TRY(device_allocate((void **)&state->buffer, (size_t)bytes));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    cudaStreamCaptureStatus capturing;

    CUDA_TRY(cudaStreamIsCapturing(stream, &capturing));
    if (capturing != cudaStreamCaptureStatusNone)
        return status_set(STATUS_FAILED, "NPP's Hough transform is not captured");
    state->context.hStream = stream;
    state->context.nStreamFlags = cudaStreamDefault; /* asking is not allowed while the stream is captured */
    TRY(npp_status(nppiFilterHoughLine_8u32f_C1R_Ctx((const Npp8u *)in->data, (int)in->stride, {in->width, in->height},
                                                     delta_of(params), params->threshold, state->lines, ROOM,
                                                     state->count, state->buffer, state->context)));
    table_kernel<<<16, 256, 0, stream>>>(out[0], state->lines, state->count, in->width, in->height);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->buffer);
    device_free(state->lines);
    device_free(state->count);
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct hough_params *params = (const struct hough_params *)params_erased;

    if (params->outputs != HOUGH_LINES)
        return "NPP gives lines alone (outputs=lines)";
    if (params->edges != HOUGH_NONZERO)
        return "NPP counts pixels that are not 0 (edges=nonzero)";
    if (params->window != HOUGH_CROSS)
        return "NPP has no window";
    if (params->theta_steps != 180 || params->rho < 1 || params->rho > 1)
        return "NPP was tried with steps of one degree and one pixel alone";
    if (in->width < 64 || in->height < 64)
        return "NPP was tried with pictures from 64 pixels a side on";
    return NULL;
}

RUNGS_CUDA_VERSION(hough, .declines = declines, .tolerance = 1e300)
