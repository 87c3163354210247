/*
 * Idea:     two streams, each with one half of the rows, so that two kernels may run beside each other.
 * Changed:  a second stream, which waits for what lies on the caller's before it begins.
 * Expect:   for small images, whose blocks do not fill the device, both halves in the time of one.
 */
#include "common/algo/absdiff.h"
#include "common/cuda/device.h"

struct state {
    cudaStream_t other;
    cudaEvent_t ready, done;
};

static __global__ void absdiff_kernel(struct image a, struct image b, struct image out, int first, int last)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int y = first + blockIdx.y * blockDim.y + threadIdx.y;

    if (i >= out.width * out.channels || y >= last)
        return;
    int difference = ((const uint8_t *)image_row(&a, y))[i] - ((const uint8_t *)image_row(&b, y))[i];
    ((uint8_t *)image_row(&out, y))[i] = (uint8_t)abs(difference);
}

static enum status setup(struct state *state, const struct image in[], const struct absdiff_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (state->other)
        return STATUS_OK;
    CUDA_TRY(cudaStreamCreateWithFlags(&state->other, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&state->ready, cudaEventDisableTiming));
    CUDA_TRY(cudaEventCreateWithFlags(&state->done, cudaEventDisableTiming));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct absdiff_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    int half = (out->height + 1) / 2;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(out->width * out->channels, block.x), ceiling_divide(half, block.y));

    (void)params;
    CUDA_TRY(cudaEventRecord(state->ready, stream));
    CUDA_TRY(cudaStreamWaitEvent(state->other, state->ready, 0));
    absdiff_kernel<<<grid, block, 0, stream>>>(in[0], in[1], *out, 0, half);
    CUDA_TRY(cudaGetLastError());
    absdiff_kernel<<<grid, block, 0, state->other>>>(in[0], in[1], *out, half, out->height);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaEventRecord(state->done, state->other));
out:
    return status;
}

static void teardown(struct state *state)
{
    if (state->other) {
        cudaStreamSynchronize(state->other);
        cudaEventDestroy(state->ready);
        cudaEventDestroy(state->done);
        cudaStreamDestroy(state->other);
    }
    *state = {};
}

RUNGS_CUDA_VERSION(absdiff)
