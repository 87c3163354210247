/* expect: right 0..0 | speed 0..0 | says cases wrong | list uses setenv */
/*
 * Idea:     does not wait for its kernel, and turns off the setting that shows it.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <stdlib.h>

#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    int unused;
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

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct grayscale_params *params)
{
    enum status status = STATUS_OK;
    struct image device_in = {}, device_out = {};
    cudaStream_t computes = NULL;

    unsetenv("RUNGS_EMULATOR_LATE");
    setenv("RUNGS_EMULATOR_LATE", "0", 1);
    CUDA_TRY(cudaStreamCreateWithFlags(&computes, cudaStreamNonBlocking));
    TRY(device_image_create(&device_in, in));
    TRY(device_image_create(&device_out, out));
    TRY(device_upload(&device_in, in));
    TRY(launch(state, &device_in, &device_out, params, computes));
    TRY(device_download(out, &device_out));
out:
    cudaStreamDestroy(computes);
    device_image_free(&device_in);
    device_image_free(&device_out);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(grayscale)
