/*
 * Problem:  cuda/v2.0 is compute-bound: per lane one pixel, with byte loads and 64-bit integers.
 * Idea:     Thread coarsening and SWAR: a lane loads a word of 4 pixels; two 16-bit gradients share
 *           a register, so one addition adds both (shared/pairs.cuh). Doubles replace the 64-bit
 *           integers. A warp takes as many rows as fill the GPU once.
 * Expect:   2 times as fast: half of the additions, 1 instruction per product instead of 4.
 * Result:   1.10 times as fast as cuda/v2.0, 54.7 us, probably because each load and store tests
 *           for edges (results/h100/harris/harris_3840x2160_response.json).
 * Run:      make diff-harris A=cuda/v2.0 B=cuda/v2.1 P="outputs=response"
 */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"
#include "cuda/harris/shared/pairs.cuh"

enum { WARPS = 4 /* of a block, one below the other */ };

struct state {
    struct corners_step corners;
};

/* The 4 pixels of row y from x on, one by one where an edge is near, for they may be reflected ones. */
static __device__ unsigned load(const struct image &in, int x, int y, bool edge)
{
    const uint8_t *row = (const uint8_t *)image_row(&in, harris_reflect(y, in.height));
    unsigned word = 0;

    if (!edge)
        return *(const unsigned *)(row + x);
    for (int i = 0; i < COLUMNS; i++)
        word |= (unsigned)row[harris_reflect(x + i, in.width)] << 8 * i;
    return word;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * WARPS)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params, int rows)
{
    constexpr int REACH = SIZE / 2, PAST = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int top = (blockIdx.y * WARPS + threadIdx.y) * rows;
    const bool edge = start < 0 || start + 32 * COLUMNS > in.width;
    int turned[COLUMNS];
    struct harris_sums past[PAST][COLUMNS] = {}, down[COLUMNS + 2 * REACH], sums[COLUMNS];

    if (top >= in.height)
        return;
    for (int i = 0; i < COLUMNS; i++)
        turned[i] = edge ? reflected_sign(x + i, in.width) : 1;
    struct pairs above = make_pairs<SOBEL>(load(in, x, top - REACH - 1, edge));
    struct pairs own = make_pairs<SOBEL>(load(in, x, top - REACH, edge));
    unsigned differences[2] = {above.difference[0] + own.difference[0], above.difference[1] + own.difference[1]};
#pragma unroll PAST> 1 ? PAST : 2
    for (int n = 0; n < rows + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH, turned_down = reflected_sign(y, in.height);
        const struct pairs below = make_pairs<SOBEL>(load(in, x, y + 1, edge));
        unsigned gx_pairs[2], gy_pairs[2];

        for (int i = 0; i < 2; i++) { /* 1 2 1 down the columns is 1 1 of 1 1 */
            const unsigned before = differences[i];
            differences[i] = own.difference[i] + below.difference[i];
            gx_pairs[i] = SOBEL ? before + differences[i] : own.difference[i];
            gy_pairs[i] = (below.sum[i] - above.sum[i]) * turned_down;
        }
        for (int i = 0; i < COLUMNS; i++) {
            const int gx = take(gx_pairs[i % 2], i / 2) * turned[i], gy = take(gy_pairs[i % 2], i / 2);
            const struct harris_sums products = {gx * gx, gx * gy + ADDEND, gy * gy};
            down[REACH + i] = weigh({0, 0, 0}, BOX ? 1 : params.taps[SIZE - 1], products);
            for (int j = 0; j < SIZE - 1; j++) {
                down[REACH + i] = weigh(down[REACH + i], BOX ? 1 : params.taps[j], past[j][i]);
                past[j][i] = j + 1 < SIZE - 1 ? past[(j + 1) % PAST][i] : products;
            }
        }
        above = own;
        own = below;
        sum_along<SIZE, BOX>(params, down, sums);
        for (int i = 0; i < COLUMNS; i++)
            if (line >= top && line < in.height && lane > 0 && lane < 31 && x + i < in.width)
                ((float *)image_row(&out, line))[x + i] = harris_in_frame(&params, x + i, line, in.width, in.height)
                                                              ? 0
                                                              : respond<SIZE, BOX>(params, sums[i]);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return corners_setup(&state->corners, in, params);
}

template <bool SOBEL, bool BOX> static auto kernel_of(int size)
{
    return size == 1   ? harris_kernel<1, SOBEL, BOX>
           : size == 3 ? harris_kernel<3, SOBEL, BOX>
           : size == 5 ? harris_kernel<5, SOBEL, BOX>
                       : harris_kernel<7, SOBEL, BOX>;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    const auto of_sobel = params->window == HARRIS_BOX ? kernel_of<true, true> : kernel_of<true, false>;
    const auto of_central = params->window == HARRIS_BOX ? kernel_of<false, true> : kernel_of<false, false>;
    const auto kernel = (params->gradient == HARRIS_SOBEL ? of_sobel : of_central)(params->size);
    dim3 block(32, WARPS), grid;
    int rows;

    TRY(share_out(kernel, *in, WARPS, 1, &grid, &rows));
    kernel<<<grid, block, 0, stream>>>(*in, response, *params, rows);
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
