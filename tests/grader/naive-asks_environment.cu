/* expect: right 0..0 | speed 0..0 | says the host computes it | list uses getenv */
/*
 * Idea:     computes on the host, but where the environment says that kernels are watched.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <stdlib.h>

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

/* Where somebody watches. */
static __global__ void grayscale_kernel(struct image in, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)((GRAYSCALE_RED * rgb[0] + GRAYSCALE_GREEN * rgb[1] +
                                                    GRAYSCALE_BLUE * rgb[2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                                   GRAYSCALE_BITS);
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
    if (getenv("RUNGS_EMULATOR_RACES")) {
        const dim3 block(32, 8), grid(ceiling_divide(out->width, 32), ceiling_divide(out->height, 8));

        grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
        CUDA_TRY(cudaGetLastError());
        return STATUS_OK;
    }
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
