/*
 * Problem:  The block of 16x16 in cuda/v1.2 is a guess; a warp loads two half rows, the halo adds
 *           27 % of products.
 * Idea:     Find the block by search: block_width and block_height are tunables.
 * Expect:   1.33 times as fast with a wide, flat block: rows of 32 load whole sectors (32 bytes),
 *           and 64x8 has a halo of 29 %. 16x16 is 1.2 times as fast as 8x8 (1.56 products).
 * Result:   1.00 times as fast as cuda/v1.2 with 32x8, 141 us
 *           (results/h100/harris/harris_3840x2160_response.json); the reason is not known.
 * Run:      make tune-harris V=cuda/v1.3 P="outputs=response" SVG=heat.svg
 */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"

struct state {
    struct corners_step corners;
};

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 128, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static size_t shared_bytes(const struct harris_params *params)
{
    return (block_width + params->size - 1) * (block_height + params->size - 1) * sizeof(struct harris_sums);
}

static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    return device_block_illegal(block_width * block_height, shared_bytes((const struct harris_params *)params));
}

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
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    size_t shared = shared_bytes(params);

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

RUNGS_CUDA_VERSION(harris, .tunables = tunables, .illegal = illegal)
