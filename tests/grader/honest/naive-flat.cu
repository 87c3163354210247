// expect: right 10..10
/* Idea: one index for all pixels, read-only loads, restrict and bounds for the compiler */
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

static __global__ void __launch_bounds__(256) grayscale_kernel(const uint8_t *__restrict__ rgb, uint8_t *__restrict__ gray, int width, int height,
                                                               size_t rgb_stride, size_t gray_stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < width * height) {
        const int y = i / width, x = i - y * width;
        const uint8_t *pixel = rgb + y * rgb_stride + 3 * x;
        gray[y * gray_stride + x] = gray_pixel(__ldg(pixel), __ldg(pixel + 1), __ldg(pixel + 2));
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int threads = 256;

    (void)state, (void)params;
    grayscale_kernel<<<ceiling_divide(out->width * out->height, threads), threads, 0, stream>>>(
        (const uint8_t *)in->data, (uint8_t *)out->data, out->width, out->height, in->stride, out->stride);
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
