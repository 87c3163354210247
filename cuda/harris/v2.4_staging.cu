/*
 * Problem:  In cuda/v2.3 98 % of a call are copies: one thread of the driver copies each picture
 *           into the driver's own small pinned buffer, from which the bus takes it.
 * Idea:     Pinned memory of our own: all threads copy a band of rows, one of up to 16, into it
 *           while the bus carries the band before (common/cuda/staging.h).
 * Expect:   2.5 to 3.8 times as fast, 1 to 1.5 ms: 41 MB take 0.8 ms, and one band is not hidden.
 * Result:   3.8 times as fast as cuda/v2.3 end to end, 0.99 ms with 16 cores
 *           (results/h200/harris/harris_3840x2160_response_staged.json).
 * Run:      make diff-harris A=cuda/v2.3 B=cuda/v2.4
 */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/shared/edges.cuh"
#include "cuda/harris/shared/strongest.h"

enum { TURN = 2 /* rows that a warp loads together */, WARPS = 4 /* of a block, one below the other */ };

struct state {
    struct strongest_step corners;
};

/* The response of `count` rows from `top` on; returns the largest. */
template <int SIZE, bool SOBEL, bool BOX, bool EDGE>
static __device__ float walk_down(const struct image &in, const struct image &out, const struct harris_params &params,
                                  int top, int count)
{
    constexpr int REACH = SIZE / 2, PAST = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int bottom = EDGE ? min(top + count, in.height) : top + count;
    const bool writes = lane > 0 && lane < 31 && x < in.width;
    struct strip strip = find_strip<EDGE>(in, out, params, x, top - REACH - 1, top);
    struct harris_sums past[PAST][COLUMNS] = {}, down[COLUMNS + 2 * REACH], sums[COLUMNS];
    float largest = 0;
    uint2 early[2 + 2 * REACH], next[TURN], now[TURN];

    for (int i = 0; i < 2 + 2 * REACH; i++)
        early[i] = fetch<EDGE>(&strip);
    for (int i = 0; i < TURN; i++)
        next[i] = fetch<EDGE>(&strip);
    struct pairs above = make_pairs<SOBEL>(join<EDGE>(strip, early[0]));
    struct pairs own = make_pairs<SOBEL>(join<EDGE>(strip, early[1]));
    unsigned differences[2] = {above.difference[0] + own.difference[0], above.difference[1] + own.difference[1]};
    /* Row y of the gradients, and the sums down the columns. */
    const auto advance = [&](int y, uint2 coming) {
        const int turned_down = EDGE ? reflected_sign(y, in.height) : 1;
        const struct pairs below = make_pairs<SOBEL>(join<EDGE>(strip, coming));
        unsigned gx_pairs[2], gy_pairs[2];

        for (int i = 0; i < 2; i++) { /* 1 2 1 down the columns is 1 1 of 1 1 */
            const unsigned before = differences[i];
            differences[i] = own.difference[i] + below.difference[i];
            gx_pairs[i] = SOBEL ? before + differences[i] : own.difference[i];
            gy_pairs[i] = (below.sum[i] - above.sum[i]) * turned_down;
        }
        for (int i = 0; i < COLUMNS; i++) {
            const int gx = take(gx_pairs[i % 2], i / 2) * (EDGE ? strip.turned[i] : 1),
                      gy = take(gy_pairs[i % 2], i / 2);
            const struct harris_sums products = {gx * gx, gx * gy + ADDEND, gy * gy};
            down[REACH + i] = weigh({0, 0, 0}, BOX ? 1 : params.taps[SIZE - 1], products);
            for (int j = 0; j < SIZE - 1; j++) {
                down[REACH + i] = weigh(down[REACH + i], BOX ? 1 : params.taps[j], past[j][i]);
                past[j][i] = j + 1 < SIZE - 1 ? past[(j + 1) % PAST][i] : products;
            }
        }
        above = own;
        own = below;
    };

    for (int y = -REACH; y < REACH; y++)
        advance(top + y, early[2 + REACH + y]);
#pragma unroll 1
    for (int turn = top; turn < bottom; turn += TURN) {
        for (int i = 0; i < TURN; i++)
            now[i] = next[i];
        for (int i = 0; i < TURN; i++) /* before anything is stored: a load may not pass a store */
            next[i] = fetch<EDGE>(&strip);
        for (int line = turn; line < turn + TURN; line++) {
            float responses[COLUMNS];

            advance(line + REACH, now[line - turn]);
            sum_along<SIZE, BOX>(params, down, sums);
            for (int i = 0; i < COLUMNS; i++)
                responses[i] = respond<SIZE, BOX>(params, sums[i]);
            store<EDGE>(out, &strip, params, x, line, writes && (!EDGE || line < bottom), responses);
            for (int i = 0; i < COLUMNS; i++)
                largest = fmaxf(largest, responses[i]);
        }
    }
    return writes ? largest : 0;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * WARPS, SIZE > 3 ? 1 : 5)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params, int rows,
                  float *found)
{
    const int top = (blockIdx.y * WARPS + threadIdx.y) * rows;

    if (top >= in.height)
        return;
    const float largest = is_inside(in, blockIdx.x * STRIP - COLUMNS, top, rows, SIZE / 2, TURN)
                              ? walk_down<SIZE, SOBEL, BOX, false>(in, out, params, top, rows)
                              : walk_down<SIZE, SOBEL, BOX, true>(in, out, params, top, rows);
    const int bits = __reduce_max_sync(0xffffffff, __float_as_int(largest)); /* in the order of the values, from 0 on */
    if (found && threadIdx.x == 0)
        atomicMax((int *)found, bits);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return strongest_setup(&state->corners, in, params);
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
    const struct image response = corners_response(&state->corners.corners, out);
    const auto of_sobel = params->window == HARRIS_BOX ? kernel_of<true, true> : kernel_of<true, false>;
    const auto of_central = params->window == HARRIS_BOX ? kernel_of<false, true> : kernel_of<false, false>;
    const auto kernel = (params->gradient == HARRIS_SOBEL ? of_sobel : of_central)(params->size);
    dim3 block(32, WARPS), grid;
    struct strongest_found *found = params->outputs == HARRIS_RESPONSE ? NULL : state->corners.found;
    int rows;

    if (found)
        CUDA_TRY(cudaMemsetAsync(found, 0, sizeof *found, stream));
    TRY(share_out(kernel, *in, WARPS, TURN, &grid, &rows));
    kernel<<<grid, block, 0, stream>>>(*in, response, *params, rows, found ? &found->peaks.largest : NULL);
    CUDA_TRY(cudaGetLastError());
    TRY(strongest_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    strongest_teardown(&state->corners);
}

RUNGS_CUDA_VERSION(harris, .declines = walk_declines, .staged = true, .queue = &recorded_queue)
