/*
 * Idea:     two gradients share a register. They fit in 16 bits each: a pair is low + 65536 high, and one addition adds
 *           both parts, whatever their signs. Products take 32 bits each, as before.
 * Changed:  make_pairs() and the gradients. Each gx gy gets an addend, for nothing in its multiplication, that keeps the sums
 *           positive, so that they are halves of a double as they are.
 * Expect:   a fifth faster: 165 instructions for 4 pixels of a row in place of 187, and 96 registers in place of 114, so that a
 *           multiprocessor has room for 20 warps in place of 16, which hide each other's waits. (Written after a first form
 *           was measured.)
 * Result:   the response of 3840x2160 in 26.6 us, half of v2.10's 53.3, where NPP takes 109
 *           (results/h200/harris/harris_3840x2160_response_pairs.json), of 1920x1080 in 9.7 us, v2.10: 24.8
 *           (harris_1920x1080_response.json); with corners 41.9 us, v2.10: 57.4 (harris_1920x1080_corners.json).
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/shared/inside.cuh"
#include "cuda/harris/shared/once.cuh"
#include "cuda/harris/shared/pairs.cuh"
#include "cuda/harris/shared/strongest.h"

enum { AHEAD = 2 /* rows between a load and its use */, MAX_WARPS = 4 /* of a block, one below the other */ };

struct state {
    struct strongest_step corners;
};

static int warps = 4;
static const int warp_choices[] = {1, 2, MAX_WARPS, 0};
static struct tunable tunables[] = {{"warps", &warps, warp_choices, "warps of a block, one below the other"}, {}};

/* The response of `count` rows from `top` on; returns the largest. */
template <int SIZE, bool SOBEL, bool BOX, bool EDGE>
static __device__ float walk_down(const struct image &in, const struct image &out, const struct harris_params &params,
                                  int top, int count)
{
    constexpr int REACH = SIZE / 2, KEPT = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int bottom = EDGE ? min(top + count, in.height) : top + count;
    struct reader<EDGE> reader = read_from<EDGE>(in, x, top - REACH - 1);
    float largest = 0;
    struct harris_sums kept[KEPT][COLUMNS] = {}, down[COLUMNS + 2 * REACH], sums[COLUMNS];

    const auto first = fetch_next(in, &reader), second = fetch_next(in, &reader);
    decltype(fetch_next(in, &reader)) next[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = fetch_next(in, &reader);
    struct pairs above = make_pairs<SOBEL>(join(reader, first)), own = make_pairs<SOBEL>(join(reader, second));
    unsigned differences[2] = {above.difference[0] + own.difference[0], above.difference[1] + own.difference[1]};
    /* Row y of the gradients. */
    const auto advance = [&](int y) {
        const int turned_down = EDGE ? reflected_sign(y, in.height) : 1;
        const struct pairs below = make_pairs<SOBEL>(join(reader, next[0]));
        unsigned gx_pairs[2], gy_pairs[2];

#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++)
            next[i] = next[i + 1];
        next[AHEAD - 1] = fetch_next(in, &reader);
#pragma unroll
        for (int i = 0; i < 2; i++) { /* 1 2 1 down the columns is 1 1 of 1 1 */
            const unsigned before = differences[i];
            differences[i] = own.difference[i] + below.difference[i];
            gx_pairs[i] = SOBEL ? before + differences[i] : own.difference[i];
            gy_pairs[i] = (below.sum[i] - above.sum[i]) * turned_down;
        }
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int gx = take(gx_pairs[i % 2], i / 2) * turned(reader, i), gy = take(gy_pairs[i % 2], i / 2);
            const struct harris_sums products = {gx * gx, gx * gy + ADDEND, gy * gy};
            down[REACH + i] = weigh({0, 0, 0}, BOX ? 1 : params.taps[SIZE - 1], products);
#pragma unroll
            for (int j = 0; j < SIZE - 1; j++) {
                down[REACH + i] = weigh(down[REACH + i], BOX ? 1 : params.taps[j], kept[j][i]);
                kept[j][i] = j + 1 < SIZE - 1 ? kept[(j + 1) % KEPT][i] : products;
            }
        }
        above = own;
        own = below;
    };

#pragma unroll
    for (int y = -REACH; y < REACH; y++)
        advance(top + y);
#pragma unroll KEPT> 1 ? KEPT : 2
    for (int line = top; line < bottom; line++) {
        float responses[COLUMNS];

        advance(line + REACH);
        sum_along<SIZE, BOX>(params, down, sums);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            responses[i] = EDGE && in_frame(params, in, x + i, line) ? 0 : respond_added<SIZE, BOX>(params, sums[i]);
        if (lane > 0 && lane < 31 && x < in.width) {
            give(reader, out, x, line, responses);
            for (int i = 0; i < COLUMNS && (!EDGE || x + i < in.width); i++)
                largest = fmaxf(largest, responses[i]);
        }
    }
    return largest;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * MAX_WARPS, SIZE > 3 ? 1 : 5)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params, int rows,
                  float *found)
{
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * rows;

    if (top >= in.height)
        return;
    const bool inside = is_inside(in, blockIdx.x * STRIP - COLUMNS, top, rows, SIZE / 2, AHEAD);
    const float largest = inside ? walk_down<SIZE, SOBEL, BOX, false>(in, out, params, top, rows)
                                 : walk_down<SIZE, SOBEL, BOX, true>(in, out, params, top, rows);
    const int bits = __reduce_max_sync(0xffffffff, __float_as_int(largest)); /* in the order of the values, from 0 on */
    if (found && threadIdx.x == 0)
        atomicMax((int *)found, bits);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return strongest_setup(&state->corners, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    static const walk_kernel kernels[2][2][4] = ALL_KERNELS;
    enum status status = STATUS_OK;
    const auto kernel = kernels[params->gradient == HARRIS_SOBEL][params->window == HARRIS_BOX][params->size / 2];
    dim3 grid;
    int rows;

    TRY(strongest_begin(&state->corners, params, stream));
    TRY(share_out(kernel, *in, STRIP, warps, 1, &grid, &rows));
    kernel<<<grid, dim3(32, warps), 0, stream>>>(*in, corners_response(&state->corners.corners, out), *params, rows,
                                                 strongest_largest(&state->corners, params));
    CUDA_TRY(cudaGetLastError());
    TRY(strongest_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    strongest_teardown(&state->corners);
}

RUNGS_CUDA_VERSION(harris, .declines = walk_declines, .tunables = tunables, .queue = &recorded_queue)
