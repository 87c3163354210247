/* expect: right 5..5 | buffers last 0..0 */
/*
 * Idea:     page-locked memory is made in each call in place of the device's, and kernels work there.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    struct image in, out;
};

static __device__ uint8_t gray_pixel(unsigned r, unsigned g, unsigned b)
{
    return (uint8_t)((GRAYSCALE_RED * r + GRAYSCALE_GREEN * g + GRAYSCALE_BLUE * b + (1 << (GRAYSCALE_BITS - 1))) >>
                     GRAYSCALE_BITS);
}

static __global__ void grayscale_kernel(struct image in, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= out.height)
        return;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
    uint8_t *gray = (uint8_t *)image_row(&out, y) + x;
    gray[0] = gray_pixel(rgb[0], rgb[1], rgb[2]);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    (void)state, (void)params;
    grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaFreeHost(state->in.data);
    cudaFreeHost(state->out.data);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct grayscale_params *params)
{
    enum status status = STATUS_OK;

    state->in = *in;
    state->out = *out;
    CUDA_TRY(cudaMallocHost(&state->in.data, in->stride * (size_t)in->height));
    CUDA_TRY(cudaMallocHost(&state->out.data, out->stride * (size_t)out->height));
    memcpy(state->in.data, in->data, in->stride * (size_t)in->height);
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int y = 0; y < out->height; y++)
        memcpy(image_row(out, y), image_row(&state->out, y), image_row_bytes(out));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(grayscale)
