/*
 * Idea:     loads come before stores. v2.15 asks for a word two rows before it needs it, but its compiled kernel does not: a
 *           load stays behind the store of the row before, which could write what it reads, and then a copy into the
 *           register of the next turn waits for it, half a row later.
 * Changed:  a turn is two rows, and begins with the loads for the next one, before anything is stored.
 * Expect:   22.1 to 19 us: a fifth of what v2.15's warps wait is for loads (1.47 of 7.7 cycles an instruction,
 *           results/h200/harris/kernels_v2.15.txt), and now 300 instructions lie between a load and its use, not 70 and 150.
 * Result:   on an H100, whose memory is slower, 21.1 us in place of 22.7 at 3840x2160, 5.6 times NPP
 *           (results/h100/harris/harris_3840x2160_response_halves.json): half of what was expected. At 1920x1080, where a warp has
 *           few rows, it loses: 8.0 in place of 7.8 (harris_1920x1080_response_halves.json beside it).
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/shared/ahead.cuh"
#include "cuda/harris/shared/once.cuh"
#include "cuda/harris/shared/pairs.cuh"
#include "cuda/harris/shared/strongest.h"

enum { TURN = 2 /* rows */, MAX_WARPS = 4 /* of a block, one below the other */ };

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
    const bool writes = lane > 0 && lane < 31 && x < in.width;
    struct walker<EDGE> walker = begin_walk<EDGE>(in, out, params, x, top - REACH - 1, top);
    float largest = 0;
    struct harris_sums kept[KEPT][COLUMNS] = {}, down[COLUMNS + 2 * REACH], sums[COLUMNS];

    const auto early = fetch_rows<2 + 2 * REACH>(in, &walker);
    auto next = fetch_rows<TURN>(in, &walker);
    struct pairs above = make_pairs<SOBEL>(join(walker, early.of[0])),
                 own = make_pairs<SOBEL>(join(walker, early.of[1]));
    unsigned differences[2] = {above.difference[0] + own.difference[0], above.difference[1] + own.difference[1]};
    /* Row y of the gradients. */
    const auto advance = [&](int y, auto coming) {
        const int turned_down = EDGE ? reflected_sign(y, in.height) : 1;
        const struct pairs below = make_pairs<SOBEL>(join(walker, coming));
        unsigned gx_pairs[2], gy_pairs[2];

#pragma unroll
        for (int i = 0; i < 2; i++) { /* 1 2 1 down the columns is 1 1 of 1 1 */
            const unsigned before = differences[i];
            differences[i] = own.difference[i] + below.difference[i];
            gx_pairs[i] = SOBEL ? before + differences[i] : own.difference[i];
            gy_pairs[i] = (below.sum[i] - above.sum[i]) * turned_down;
        }
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int gx = take(gx_pairs[i % 2], i / 2) * turned(walker, i), gy = take(gy_pairs[i % 2], i / 2);
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
        advance(top + y, early.of[2 + REACH + y]);
#pragma unroll 1
    for (int turn = top; turn < bottom; turn += TURN) {
        const auto now = next;

        next = fetch_rows<TURN>(in, &walker);
#pragma unroll
        for (int line = turn; line < turn + TURN; line++) {
            float responses[COLUMNS];

            advance(line + REACH, now.of[line - turn]);
            sum_along<SIZE, BOX>(params, down, sums);
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                responses[i] = respond_added<SIZE, BOX>(params, sums[i]);
            hide(walker, params, in.height, responses);
            give_next(&walker, out, x, writes && (!EDGE || line < bottom), responses);
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                largest = fmaxf(largest, responses[i]);
        }
    }
    return writes ? largest : 0;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * MAX_WARPS, SIZE > 3 ? 1 : 5)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params, int rows,
                  float *found)
{
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * rows;

    if (top >= in.height)
        return;
    const bool inside = is_inside(in, blockIdx.x * STRIP - COLUMNS, top, rows, SIZE / 2, TURN);
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
    TRY(share_out(kernel, *in, STRIP, warps, TURN, &grid, &rows));
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
