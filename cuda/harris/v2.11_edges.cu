/*
 * Idea:     near an edge a word is put together from two. A selector, found once, says which bytes to take, in place of
 *           four loads in turn.
 * Changed:  fetch() and join() for load(), and all warps use them; what lies at the edges is known before the rows begin.
 * Expect:   a third less. v2.4 takes 38 us for 1920x1080, though its warps are a quarter of those for 3840x2160: what the time
 *           consists of is the 35 rows of a warp at the left or right edge, whose loads wait for each other. Without them it
 *           is the instructions, 21.6 million of warps or 21 us if one is issued in each cycle.
 * From:     cuda/v2.10
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/shared/edges.cuh"
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

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * MAX_WARPS)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params, int rows,
                  float *found)
{
    constexpr int REACH = SIZE / 2, KEPT = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    const struct columns columns = find_columns(x, in.width);
    float largest = 0;
    struct harris_sums kept[KEPT][COLUMNS] = {};

    if (top >= in.height)
        return;
    const struct pixels first = fetch(in, columns, top - REACH - 1), second = fetch(in, columns, top - REACH);
    struct pixels next[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = fetch(in, columns, top - REACH + 1 + i);
    struct line above = make_line<SOBEL>(join(first, columns));
    struct line own = make_line<SOBEL>(join(second, columns));

#pragma unroll KEPT> 1 ? KEPT : 2
    for (int n = 0; n < rows + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH, turned_down = reflected_sign(y, in.height);
        const struct line below = make_line<SOBEL>(join(next[0], columns));
        struct harris_sums down[COLUMNS + 2 * REACH], sums[COLUMNS];
        float responses[COLUMNS];

#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++)
            next[i] = next[i + 1];
        next[AHEAD - 1] = fetch(in, columns, y + 1 + AHEAD);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int gy = (below.sum[i] - above.sum[i]) * turned_down;
            const int gx =
                (SOBEL ? above.difference[i] + 2 * own.difference[i] + below.difference[i] : own.difference[i]) *
                columns.turned[i];
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
        sum_along<SIZE, BOX>(params, down, sums);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            responses[i] = in_frame(params, in, x + i, line) ? 0 : respond<SIZE, BOX>(params, sums[i]);
        if (line >= top && line < in.height && lane > 0 && lane < 31 && x < in.width) {
            store(out, x, line, responses);
            for (int i = 0; i < COLUMNS && x + i < in.width; i++)
                largest = fmaxf(largest, responses[i]);
        }
    }
    const int bits = __reduce_max_sync(0xffffffff, __float_as_int(largest)); /* in the order of the values, from 0 on */
    if (found && lane == 0)
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
