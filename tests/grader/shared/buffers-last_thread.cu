/* expect: right 0..0 | buffers last 0..0 | speed 0..0 | says few threads do all the work */
/*
 * Idea:     is a serial loop in the thread that comes last.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/blur.h"
#include "common/cuda/device.h"

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* on the host */
    unsigned *arrived;
};

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __global__ void compute(struct image in, struct image out, const __grid_constant__ struct weights w, int ksize,
                               unsigned *arrived, unsigned threads)
{
    if (atomicAdd(arrived, 1) + 1 != threads)
        return;
    for (int y = 0; y < out.height; y++)
        for (int i = 0; i < out.width * out.channels; i++) {
            uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
            for (int j = 0; j < ksize; j++)
                for (int k = 0; k < ksize; k++)
                    sum += w.at[j] * w.at[k] *
                           ((const uint8_t *)image_row(&in, clamp(y + j - ksize / 2, in.height - 1)))
                               [clamp(i / in.channels + k - ksize / 2, in.width - 1) * in.channels + i % in.channels];
            ((uint8_t *)image_row(&out, y))[i] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
        }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    enum status status = STATUS_OK;

    (void)in;
    blur_weights(params, state->weights.at);
    if (!state->arrived)
        CUDA_TRY(cudaMalloc((void **)&state->arrived, sizeof *state->arrived));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    const int blocks = ceiling_divide(out->width * out->height, 256);
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(state->arrived, 0, sizeof *state->arrived, stream));
    compute<<<blocks, 256, 0, stream>>>(*in, *out, state->weights, params->ksize, state->arrived,
                                        256 * (unsigned)blocks);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaFree(state->arrived);
    state->arrived = NULL;
}

RUNGS_CUDA_VERSION(blur)
