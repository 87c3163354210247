/*
 * Idea:     a thread has 4 columns, so that a pixel, once loaded, serves up to three of them, and its sums go to its neighbour
 *           without a shuffle in three cases of four.
 * Changed:  columns became loops over 4 of them. The first and the last thread of a warp only know what others ask for:
 *           120 of 128 columns count, as 30 of 32 did.
 * Expect:   kernel 1.7 times faster: 6 loads for 4 pixels and a row in place of 12, 6 shuffles in place of 36, and 4 pixels
 *           share the loop and its reflections of rows.
 * Result:   slower: 76.1 us, 0.79 times v2.1 (results/h200/harris/harris_3840x2160_response.json).
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"
#include "cuda/harris/shared/walk.cuh"

enum {
    COLUMNS = 4,                /* of a thread */
    STRIP = (32 - 2) * COLUMNS, /* that a warp gives */
    ROWS = 32,                  /* that a warp gives */
    WARPS = 4                   /* of a block, one below the other */
};

struct state {
    struct corners_step corners;
};

/* In one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the pixel alone. */
struct line {
    int difference[COLUMNS], sum[COLUMNS];
};

static __device__ struct line make_line(const struct image &in, const int columns[COLUMNS + 2], int y, bool sobel)
{
    const uint8_t *row = (const uint8_t *)image_row(&in, harris_reflect(y, in.height));
    int pixels[COLUMNS + 2];
    struct line line;

#pragma unroll
    for (int i = 0; i < COLUMNS + 2; i++)
        pixels[i] = row[columns[i]];
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        line.difference[i] = pixels[i + 2] - pixels[i];
        line.sum[i] = sobel ? pixels[i] + 2 * pixels[i + 1] + pixels[i + 2] : pixels[i + 1];
    }
    return line;
}

template <int SIZE>
static __global__ void __launch_bounds__(32 * WARPS)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params)
{
    constexpr int REACH = SIZE / 2, KEPT = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int top = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    const bool sobel = params.gradient == HARRIS_SOBEL;
    int turned[COLUMNS], columns[COLUMNS + 2];
    struct harris_sums kept[KEPT][COLUMNS] = {};

    if (top >= in.height)
        return;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        turned[i] = reflected_sign(x + i, in.width);
#pragma unroll
    for (int i = 0; i < COLUMNS + 2; i++)
        columns[i] = harris_reflect(x + i - 1, in.width);
    struct line above = make_line(in, columns, top - REACH - 1, sobel);
    struct line own = make_line(in, columns, top - REACH, sobel);
#pragma unroll KEPT> 1 ? KEPT : 2
    for (int n = 0; n < ROWS + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH, turned_down = reflected_sign(y, in.height);
        const struct line below = make_line(in, columns, y + 1, sobel);
        struct harris_sums down[COLUMNS + 2 * REACH];

#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int gy = (below.sum[i] - above.sum[i]) * turned_down;
            const int gx =
                (sobel ? above.difference[i] + 2 * own.difference[i] + below.difference[i] : own.difference[i]) *
                turned[i];
            const struct harris_sums products = {gx * gx, gx * gy, gy * gy};
            down[REACH + i] = weigh({0, 0, 0}, params.taps[SIZE - 1], products);
#pragma unroll
            for (int j = 0; j < SIZE - 1; j++) {
                down[REACH + i] = weigh(down[REACH + i], params.taps[j], kept[j][i]);
                kept[j][i] = j + 1 < SIZE - 1 ? kept[(j + 1) % KEPT][i] : products;
            }
        }
        above = own;
        own = below;
#pragma unroll
        for (int i = 0; i < REACH; i++) {
            down[REACH + COLUMNS + i] = sums_of(lane + 1, down[REACH + i]);
            down[i] = sums_of(lane - 1, down[COLUMNS + i]);
        }
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            struct harris_sums sums = {0, 0, 0};
#pragma unroll
            for (int j = 0; j < SIZE; j++)
                sums = weigh(sums, params.taps[j], down[i + j]);
            if (line >= top && line < in.height && lane > 0 && lane < 31 && x + i < in.width)
                ((float *)image_row(&out, line))[x + i] =
                    harris_in_frame(&params, x + i, line, in.width, in.height) ? 0 : harris_response(&params, sums);
        }
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
    dim3 grid(ceiling_divide(in->width, STRIP), ceiling_divide(in->height, ROWS * WARPS));

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
