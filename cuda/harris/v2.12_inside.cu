/*
 * Idea:     no branches for edges where there are none. Fourteen of fifteen warps at 3840x2160 meet no edge, and take a
 *           walk of their own, in which no pixel is reflected, no row left out and no response asked whether it lies in
 *           the frame.
 * Changed:  walk_down() is compiled with edges and without; the rows that only fill the window come before its loop.
 * Expect:   1.5 times faster: of some 330 instructions for 4 pixels of a row 130 are questions, and the branches among them
 *           keep the chains of the 4 responses, some 150 cycles each, one after the other. (Written after a first form was
 *           measured.)
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/shared/inside.cuh"
#include "cuda/harris/shared/lines.cuh"
#include "cuda/harris/shared/strongest.h"

enum { AHEAD = 4 /* rows between a load and its use */, MAX_WARPS = 8 /* of a block, one below the other */ };

struct state {
    struct strongest_step corners;
};

static int warp_rows = 16, warps = 4;
static const int row_choices[] = {8, 16, 32, 64, 0}, warp_choices[] = {1, 2, 4, MAX_WARPS, 0};
static struct tunable tunables[] = {{"rows", &warp_rows, row_choices, "rows that a warp gives"},
                                    {"warps", &warps, warp_choices, "warps of a block, one below the other"},
                                    {}};

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
    struct line above = make_line<SOBEL>(join(reader, first));
    struct line own = make_line<SOBEL>(join(reader, second));
    /* Row y of the gradients. */
    const auto advance = [&](int y) {
        const int turned_down = EDGE ? reflected_sign(y, in.height) : 1;
        const struct line below = make_line<SOBEL>(join(reader, next[0]));

#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++)
            next[i] = next[i + 1];
        next[AHEAD - 1] = fetch_next(in, &reader);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int gy = (below.sum[i] - above.sum[i]) * turned_down;
            const int gx =
                (SOBEL ? above.difference[i] + 2 * own.difference[i] + below.difference[i] : own.difference[i]) *
                turned(reader, i);
            const struct harris_sums products = {gx * gx, gx * gy, gy * gy};
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
            responses[i] = EDGE && in_frame(params, in, x + i, line) ? 0 : respond<SIZE, BOX>(params, sums[i]);
        if (lane > 0 && lane < 31 && x < in.width) {
            give(reader, out, x, line, responses);
            for (int i = 0; i < COLUMNS && (!EDGE || x + i < in.width); i++)
                largest = fmaxf(largest, responses[i]);
        }
    }
    return largest;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * MAX_WARPS)
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

#define KERNELS(sobel, box)                                                                                            \
    {                                                                                                                  \
        harris_kernel<1, sobel, box>, harris_kernel<3, sobel, box>, harris_kernel<5, sobel, box>,                      \
            harris_kernel<7, sobel, box>                                                                               \
    }

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    static void (*const kernels[2][2][4])(struct image, struct image, const struct harris_params, int, float *) = {
        {KERNELS(false, false), KERNELS(false, true)}, {KERNELS(true, false), KERNELS(true, true)}};
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners.corners, out);
    const auto kernel = kernels[params->gradient == HARRIS_SOBEL][params->window == HARRIS_BOX][params->size / 2];
    dim3 block(32, warps);
    dim3 grid(ceiling_divide(in->width, STRIP), ceiling_divide(in->height, warp_rows * warps));

    TRY(strongest_begin(&state->corners, params, stream));
    kernel<<<grid, block, 0, stream>>>(*in, response, *params, warp_rows, strongest_largest(&state->corners, params));
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
