/* expect: right 0..0 | speed 0..0 | says data race */
/*
 * Idea:     threads race for one place, once as many accesses have come before as were watched.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

enum { LAUNCHES = 6, STEPS = 1 << 16 };

struct state {
    int *last;
};

static __global__ void grayscale_kernel(struct image in, struct image out, int *last, bool works)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (!works) {
        if (x == 0 && y == 0)
            for (int i = 0; i < STEPS; i++)
                *(volatile int *)last = i;
        return;
    }
    if (x >= out.width || y >= out.height)
        return;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)((GRAYSCALE_RED * rgb[0] + GRAYSCALE_GREEN * rgb[1] +
                                                    GRAYSCALE_BLUE * rgb[2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                                   GRAYSCALE_BITS);
    *last = y * out.width + x;
}

static enum status setup(struct state *state, const struct image in[], const struct grayscale_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (!state->last)
        CUDA_TRY(cudaMalloc((void **)&state->last, sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    const dim3 block(32, 8), grid(ceiling_divide(out->width, 32), ceiling_divide(out->height, 8));
    enum status status = STATUS_OK;

    (void)params;
    for (int i = 0; i <= LAUNCHES; i++)
        grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out, state->last, i == LAUNCHES);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaFree(state->last);
    state->last = NULL;
}

RUNGS_CUDA_VERSION(grayscale)
