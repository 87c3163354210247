/*
 * Idea:     the same response in three passes, each a kernel of its own: gradients, their products, sums and response,
 *           with 16 bits a gradient and 32 bits a product in device memory between them.
 * Changed:  one kernel became three, and products are computed once, not once for each pixel whose window holds them.
 * Expect:   the project report chose one kernel because of traffic and did not measure the other: 5 bytes a pixel against 5 +
 *           8 + 16 + 12 = 41. At 3840x2160 that is 340 MB and 80 us at 4.2 TB/s, half a kernel of v1.0 that computes
 *           everything nine times: traffic is not all. Without a window (window=none) v1.0 should win clearly.
 * Result:   209 us, half of v1.0's 399, with a window of 3x3 (results/h200/harris/harris_3840x2160_response.json);
 *           without one it was not timed.
 * From:     cuda/v1.0
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"

struct state {
    struct corners_step corners;
    int *gradients;               /* in device memory, one a pixel */
    struct harris_sums *products; /* likewise */
    struct image in, out[2];
};

static __device__ int sample(const struct image &in, int x, int y)
{
    return ((const uint8_t *)image_row(&in, harris_reflect(y, in.height)))[harris_reflect(x, in.width)];
}

/* gx in the low half of a word, gy in the high one. */
static __global__ void gradient_kernel(struct image in, int *gradients, bool sobel)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    int gx = sample(in, x + 1, y) - sample(in, x - 1, y), gy = sample(in, x, y + 1) - sample(in, x, y - 1);
    if (sobel) {
        int falling = sample(in, x + 1, y + 1) - sample(in, x - 1, y - 1);
        int rising = sample(in, x + 1, y - 1) - sample(in, x - 1, y + 1);
        gx = 2 * gx + falling + rising;
        gy = 2 * gy + falling - rising;
    }
    gradients[(size_t)y * in.width + x] = (gx & 0xffff) | (int)((unsigned)gy << 16);
}

static __global__ void product_kernel(const int *gradients, struct harris_sums *products, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= width || y >= height)
        return;
    int both = gradients[(size_t)y * width + x], gx = (int16_t)(both & 0xffff), gy = both >> 16;
    products[(size_t)y * width + x] = {gx * gx, gx * gy, gy * gy};
}

static __global__ void response_kernel(const struct harris_sums *products, struct image out,
                                       const __grid_constant__ struct harris_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= out.height)
        return;
    for (int j = 0; j < params.size; j++) {
        for (int i = 0; i < params.size; i++) {
            int u = harris_reflect(x + i - params.size / 2, out.width);
            int v = harris_reflect(y + j - params.size / 2, out.height);
            struct harris_sums product = products[(size_t)v * out.width + u];
            int weight = params.taps[i] * params.taps[j];
            sums.a += weight * product.a;
            sums.b += weight * product.b;
            sums.c += weight * product.c;
        }
    }
    ((float *)image_row(&out, y))[x] =
        harris_in_frame(&params, x, y, out.width, out.height) ? 0 : harris_response(&params, sums);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    enum status status = STATUS_OK;
    const size_t pixels = (size_t)in->width * in->height;

    TRY(corners_setup(&state->corners, in, params));
    if (!state->gradients)
        TRY(device_allocate((void **)&state->gradients, pixels * sizeof *state->gradients));
    if (!state->products)
        TRY(device_allocate((void **)&state->products, pixels * sizeof *state->products));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    size_t shared = 0;

    gradient_kernel<<<grid, block, shared, stream>>>(*in, state->gradients, params->gradient == HARRIS_SOBEL);
    CUDA_TRY(cudaGetLastError());
    product_kernel<<<grid, block, shared, stream>>>(state->gradients, state->products, in->width, in->height);
    CUDA_TRY(cudaGetLastError());
    response_kernel<<<grid, block, shared, stream>>>(state->products, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
    device_free(state->gradients);
    device_free(state->products);
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
