/*
 * Idea:     a warp gets fewer rows where a row costs more. All warps begin at once, and one near an edge takes longer
 *           for a row, so that in the end it was alone on its part of a multiprocessor.
 * Changed:  find_share() and share_out_unevenly() (shared/uneven.cuh).
 * Expect:   15 to 14 us: 20 rows in place of 28 near an edge, whose 768 instructions for 4 rows are then as many as 558 for 28.
 * Result:   1.07 times v2.18 at 1920x1080, where it is the fastest with 7.6 us, 3.6 times NPP
 *           (H100, results/h100/harris/harris_1920x1080_response_halves.json); 1.01 times at 3840x2160, 21.8 us, where v2.16 stays
 *           the fastest (harris_3840x2160_response_halves.json beside it).
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/shared/strongest.h"
#include "cuda/harris/shared/turned.cuh"
#include "cuda/harris/shared/uneven.cuh"

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
    constexpr int REACH = SIZE / 2;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int bottom = EDGE ? min(top + count, in.height) : top + count;
    const bool writes = lane > 0 && lane < 31 && x < in.width;
    struct turning<EDGE> walker = begin_turning<EDGE>(in, out, params, x, top - REACH - 1, top);
    float largest = 0;
    struct slope slopes[SIZE + 1][COLUMNS]; /* of the rows above those of a turn, and of these */

    const auto early = fetch_rows<2 + 2 * REACH>(in, &walker);
    auto next = fetch_rows<TURN>(in, &walker);
    struct halves above = make_halves<SOBEL>(join(walker, early.of[0])),
                  own = make_halves<SOBEL>(join(walker, early.of[1]));
    __half2 differences[2] = {__hadd2(above.difference[0], own.difference[0]),
                              __hadd2(above.difference[1], own.difference[1])};
    /* The next row of the gradients. */
    const auto advance = [&](auto coming, struct slope to[COLUMNS]) {
        const struct halves below = make_halves<SOBEL>(join(walker, coming));

#pragma unroll
        for (int i = 0; i < 2; i++) { /* 1 2 1 down the columns is 1 1 of 1 1 */
            const __half2 before = differences[i];
            differences[i] = __hadd2(own.difference[i], below.difference[i]);
            const __half2 gx = turn_across(walker, i, SOBEL ? __hadd2(before, differences[i]) : own.difference[i]);
            const __half2 gy = turn_down(coming, __hsub2(as_halves(below.sum[i]), as_halves(above.sum[i])));
            to[i] = {__low2float(gx), __low2float(gy)};
            to[i + 2] = {__high2float(gx), __high2float(gy)};
        }
        above = own;
        own = below;
    };

#pragma unroll
    for (int i = 0; i < 2 * REACH; i++)
        advance(early.of[2 + i], slopes[i]);
#pragma unroll SIZE> 3 ? 1 : 2
    for (int turn = top; turn < bottom; turn += TURN) {
        const auto now = next;

        next = fetch_rows<TURN>(in, &walker);
#pragma unroll
        for (int i = 0; i < TURN; i++)
            advance(now.of[i], slopes[SIZE - 1 + i]);
#pragma unroll
        for (int j = 0; j < TURN; j++) {
            struct words down[COLUMNS + 2 * REACH], sums[COLUMNS];
            float responses[COLUMNS];

#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                down[REACH + i] = sum_down<SIZE, BOX>(params, slopes, j, i);
            sum_words_along<SIZE, BOX>(params, down, sums);
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                responses[i] = respond_words<SIZE, BOX>(params, sums[i]);
            hide(walker, responses);
            give_next(&walker, out, x, writes, responses);
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                largest = fmaxf(largest, responses[i]);
        }
#pragma unroll
        for (int i = 0; i < (SIZE - 1) * COLUMNS; i++)
            slopes[i / COLUMNS][i % COLUMNS] = slopes[i / COLUMNS + TURN][i % COLUMNS];
    }
    return writes ? largest : 0;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * MAX_WARPS, SIZE > 3 ? 1 : 5)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params,
                  struct shares shares, float *found)
{
    int top, rows;

    find_share(shares, blockIdx.x, gridDim.x, blockIdx.y * blockDim.y + threadIdx.y, &top, &rows);
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
    static const uneven_kernel kernels[2][2][4] = ALL_KERNELS;
    enum status status = STATUS_OK;
    const auto kernel = kernels[params->gradient == HARRIS_SOBEL][params->window == HARRIS_BOX][params->size / 2];
    struct shares shares;
    dim3 grid;

    TRY(strongest_begin(&state->corners, params, stream));
    TRY(share_out_unevenly(kernel, *in, STRIP, warps, TURN, &grid, &shares));
    kernel<<<grid, dim3(32, warps), 0, stream>>>(*in, corners_response(&state->corners.corners, out), *params, shares,
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
