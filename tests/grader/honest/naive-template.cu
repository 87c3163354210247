// expect: right 10..10
/* Idea: a template over the pixels of a thread, and a struct of three bytes */
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

struct rgb {
    uint8_t r, g, b;
};

template <int PIXELS> static __global__ void grayscale_kernel(struct image in, struct image out)
{
    const int first = PIXELS * (blockIdx.x * blockDim.x + threadIdx.x);
    const int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (y >= out.height)
        return;
    const rgb *from = (const rgb *)image_row(&in, y);
    auto *to = (uint8_t *)image_row(&out, y);
#pragma unroll
    for (int k = 0; k < PIXELS; ++k)
        if (const int x = first + k; x < out.width)
            to[x] = gray_pixel(from[x].r, from[x].g, from[x].b);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    constexpr int pixels = 4;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(out->width, pixels * block.x), ceiling_divide(out->height, block.y));

    (void)state, (void)params;
    grayscale_kernel<pixels><<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct grayscale_params *params)
{
    enum status status = STATUS_OK;

    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, out));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &state->out));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(grayscale)
