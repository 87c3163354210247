// expect: right 10..10
/* Idea: a grid of few blocks, whose threads go on by the size of the grid */
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
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < out.height; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < out.width; x += gridDim.x * blockDim.x) {
            const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
            ((uint8_t *)image_row(&out, y))[x] = gray_pixel(rgb[0], rgb[1], rgb[2]);
        }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(min(ceiling_divide(out->width, block.x), 64), min(ceiling_divide(out->height, block.y), 64));

    (void)state, (void)params;
    grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
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
