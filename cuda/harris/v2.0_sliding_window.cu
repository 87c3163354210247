/*
 * Problem:  cuda/v1.3 reads 9 products per pixel from shared memory, behind a barrier.
 * Idea:     A sliding window in registers: a warp walks down a strip, one column per lane, and
 *           keeps the last rows' products; shuffles bring the neighbours' sums, without a barrier.
 * Expect:   3 times as fast: 3 loads per product instead of 8, and 1.13 products per pixel instead
 *           of 1.33 (32x8 threads).
 * Result:   2.3 times as fast as cuda/v1.3, 60.2 us
 *           (results/h100/harris/harris_3840x2160_response.json).
 * Run:      make diff-harris A=cuda/v1.3 B=cuda/v2.0 P="outputs=response"
 */
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

/* In one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the pixel alone. */
struct line {
    int difference, sum;
};

static __device__ struct line make_line(const struct image &in, const int columns[3], int y, bool sobel)
{
    const uint8_t *row = (const uint8_t *)image_row(&in, harris_reflect(y, in.height));
    const int left = row[columns[0]], own = row[columns[1]], right = row[columns[2]];

    return {right - left, sobel ? left + 2 * own + right : own};
}

template <int SIZE>
static __global__ void __launch_bounds__(32 * WARPS)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params)
{
    constexpr int REACH = SIZE / 2, STRIP = 32 - 2 * REACH, PAST = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, x = blockIdx.x * STRIP - REACH + lane;
    const int top = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    const int columns[3] = {harris_reflect(x - 1, in.width), harris_reflect(x, in.width),
                            harris_reflect(x + 1, in.width)};
    const int turned = reflected_sign(x, in.width);
    const bool sobel = params.gradient == HARRIS_SOBEL;
    struct harris_sums past[PAST] = {}; /* products of the rows before */

    if (top >= in.height)
        return;
    struct line above = make_line(in, columns, top - REACH - 1, sobel);
    struct line own = make_line(in, columns, top - REACH, sobel);
#pragma unroll PAST> 1 ? PAST : 2
    for (int n = 0; n < ROWS + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH, turned_down = reflected_sign(y, in.height);
        const struct line below = make_line(in, columns, y + 1, sobel);
        const int gy = (below.sum - above.sum) * turned_down;
        const int gx = (sobel ? above.difference + 2 * own.difference + below.difference : own.difference) * turned;
        const struct harris_sums products = {gx * gx, gx * gy, gy * gy};
        struct harris_sums down = weigh({0, 0, 0}, params.taps[SIZE - 1], products), sums = {0, 0, 0};

        above = own;
        own = below;
#pragma unroll
        for (int j = 0; j < SIZE - 1; j++) {
            down = weigh(down, params.taps[j], past[j]);
            past[j] = j + 1 < SIZE - 1 ? past[(j + 1) % PAST] : products;
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
