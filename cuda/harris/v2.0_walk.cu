/*
 * Idea:     a warp walks down a strip of the picture, a column a thread, and keeps in registers what the next rows need:
 *           products are computed once, summed down each column, and then along the row by shuffles.
 * Changed:  the kernel, which needs no tile and no barrier; the size of the window is a template argument, or registers
 *           could not hold the last rows: sizes 1, 3, 5 and 7.
 * Expect:   kernel 1.5 times faster: a tile of 16x16 computes 1.27 products a pixel and reads each nine times from shared
 *           memory; 30 of 32 threads and 34 rows for 32 make 1.13 products, and 2 shuffles take the place of 6 reads.
 * Result:   the response in 85.5 us, 1.64 times v1.2 (results/h200/harris/harris_3840x2160_response.json).
 * From:     cuda/v1.2
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"
#include "cuda/harris/shared/walk.cuh"

enum {
    ROWS = 32, /* that a warp gives */
    WARPS = 4  /* of a block, one below the other */
};

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

template <int SIZE>
static __global__ void __launch_bounds__(32 * WARPS)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params)
{
    constexpr int REACH = SIZE / 2, STRIP = 32 - 2 * REACH, KEPT = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, x = blockIdx.x * STRIP - REACH + lane;
    const int top = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    struct harris_sums kept[KEPT] = {};

    if (top >= in.height)
        return;
#pragma unroll KEPT> 1 ? KEPT : 2
    for (int n = 0; n < ROWS + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH;
        const struct harris_sums products = multiply_gradients(
            in, harris_reflect(x, in.width), harris_reflect(y, in.height), params.gradient == HARRIS_SOBEL);
        struct harris_sums down = weigh({0, 0, 0}, params.taps[SIZE - 1], products), sums = {0, 0, 0};

#pragma unroll
        for (int j = 0; j < SIZE - 1; j++) {
            down = weigh(down, params.taps[j], kept[j]);
            kept[j] = j + 1 < SIZE - 1 ? kept[(j + 1) % KEPT] : products;
        }
#pragma unroll
        for (int i = 0; i < SIZE; i++)
            sums = weigh(sums, params.taps[i], sums_of(lane + i - REACH, down));
        if (line >= top && line < in.height && lane >= REACH && lane < REACH + STRIP && x < in.width)
            ((float *)image_row(&out, line))[x] =
                harris_in_frame(&params, x, line, in.width, in.height) ? 0 : harris_response(&params, sums);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return corners_setup(&state->corners, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    static void (*const kernels[])(struct image, struct image, const struct harris_params) = {
        harris_kernel<1>, harris_kernel<3>, harris_kernel<5>, harris_kernel<7>};
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    dim3 block(32, WARPS);
    dim3 grid(ceiling_divide(in->width, 32 - params->size / 2 * 2), ceiling_divide(in->height, ROWS * WARPS));

    kernels[params->size / 2]<<<grid, block, 0, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
}

RUNGS_CUDA_VERSION(harris, .declines = walk_declines)
