/*
 * Problem:  cuda/v1.1 computes each product 9 times, once per window (3x3).
 * Idea:     A tile: a block of 16x16 threads computes the products of its pixels and of the halo
 *           around them once, into shared memory; each thread then sums up its window from there.
 * Expect:   Kernel 4 times as fast: a block computes (18 / 16)^2 = 1.27 products per pixel.
 * Result:   2.8 times as fast as cuda/v1.1, 140 us
 *           (results/h100/harris/harris_3840x2160_response.json), probably because 9 reads per
 *           pixel from shared memory stay.
 * Run:      make diff-harris A=cuda/v1.1 B=cuda/v1.2 P="outputs=response"
 */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"

struct state {
    struct corners_step corners;
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
    extern __shared__ struct harris_sums tile[];
    int tile_width = blockDim.x + params.size - 1, tile_height = blockDim.y + params.size - 1;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < tile_width * tile_height; k += blockDim.x * blockDim.y) {
        int u = harris_reflect(x - (int)threadIdx.x + k % tile_width - params.size / 2, in.width);
        int v = harris_reflect(y - (int)threadIdx.y + k / tile_width - params.size / 2, in.height);
        tile[k] = multiply_gradients(in, u, v, params.gradient == HARRIS_SOBEL);
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int j = 0; j < params.size; j++) {
        for (int i = 0; i < params.size; i++) {
            struct harris_sums product = tile[(threadIdx.y + j) * tile_width + threadIdx.x + i];
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
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    size_t shared = (block.x + params->size - 1) * (block.y + params->size - 1) * sizeof(struct harris_sums);

    harris_kernel<<<grid, block, shared, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
}

RUNGS_CUDA_VERSION(harris)
