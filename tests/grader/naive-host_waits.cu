/* expect: right 0..0 | speed 0..0 | says the host computes it */
/*
 * Idea:     computes on the host, once a counter says that all threads of a kernel were there.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    unsigned *arrived;
};

static void compute(const struct image *in, struct image *out)
{
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = (const uint8_t *)image_row(in, y);
        uint8_t *gray = (uint8_t *)image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

static __global__ void arrive(unsigned *arrived)
{
    atomicAdd(arrived, 1);
}

static enum status setup(struct state *state, const struct image in[], const struct grayscale_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (!state->arrived)
        CUDA_TRY(cudaMalloc((void **)&state->arrived, sizeof *state->arrived));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    const int blocks = ceiling_divide(out->width * out->height, 256);
    enum status status = STATUS_OK;
    unsigned arrived = 0;

    (void)params;
    CUDA_TRY(cudaMemsetAsync(state->arrived, 0, sizeof *state->arrived, stream));
    arrive<<<blocks, 256, 0, stream>>>(state->arrived);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpyAsync(&arrived, state->arrived, sizeof arrived, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    if (arrived == 256 * (unsigned)blocks)
        compute(in, out);
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaFree(state->arrived);
    state->arrived = NULL;
}

RUNGS_CUDA_VERSION(grayscale)
