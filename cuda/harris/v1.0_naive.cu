/*
 * Problem:  cpu/corners needs 1.8 ms for the response at 3840x2160; all pixels are independent.
 * Idea:     One thread per pixel computes the gradients in its window, their products and the sums.
 *           Only 5 bytes per pixel move. shared/corners.cu finds the corners.
 * Expect:   Kernel 1000 times as fast as cpu/serial, despite 72 loads per pixel from L1. A call
 *           adds 0.5 ms of upload, 2 ms of download and 0.3 ms of allocation.
 * Result:   1180 times as fast as cpu/serial, 4.4 times as fast as cpu/corners with 16 threads, 398
 *           us (results/h100/harris/harris_3840x2160_response.json).
 * Run:      make bench-harris VERSIONS=cpu/corners,cuda/v1.0 P="outputs=response"
 */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"

struct state {
    struct corners_step corners;
    struct image in, out[2];
};

static __device__ int sample(const struct image &in, int x, int y)
{
    return ((const uint8_t *)image_row(&in, harris_reflect(y, in.height)))[harris_reflect(x, in.width)];
}

static __device__ struct harris_sums multiply_gradients(const struct image &in, int x, int y, bool sobel)
{
    int gx = sample(in, x + 1, y) - sample(in, x - 1, y), gy = sample(in, x, y + 1) - sample(in, x, y - 1);

    if (sobel) {
        int falling = sample(in, x + 1, y + 1) - sample(in, x - 1, y - 1);
        int rising = sample(in, x + 1, y - 1) - sample(in, x - 1, y + 1);
        gx = 2 * gx + falling + rising;
        gy = 2 * gy + falling - rising;
    }
    return {gx * gx, gx * gy, gy * gy};
}

static __global__ void harris_kernel(struct image in, struct image out,
                                     const __grid_constant__ struct harris_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= out.height)
        return;
    for (int j = 0; j < params.size; j++) {
        for (int i = 0; i < params.size; i++) {
            int u = harris_reflect(x + i - params.size / 2, in.width);
            int v = harris_reflect(y + j - params.size / 2, in.height);
            struct harris_sums product = multiply_gradients(in, u, v, params.gradient == HARRIS_SOBEL);
            int weight = params.taps[i] * params.taps[j];
            sums.a += weight * product.a;
            sums.b += weight * product.b;
            sums.c += weight * product.c;
        }
    }
    ((float *)image_row(&out, y))[x] =
        harris_in_frame(&params, x, y, in.width, in.height) ? 0 : harris_response(&params, sums);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return corners_setup(&state->corners, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    size_t shared = 0;

    harris_kernel<<<grid, block, shared, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
    device_image_free(&state->in);
    device_image_free(&state->out[0]);
    device_image_free(&state->out[1]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct harris_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(device_image_create(&state->out[slot], &out[slot]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(device_download(&out[slot], &state->out[slot]));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(harris)
