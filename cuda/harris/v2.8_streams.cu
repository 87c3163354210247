/*
 * Idea:     many pictures. While one is computed the next is uploaded and the one before it downloaded, each on a stream of
 *           its own: a GPU has an engine for either direction beside its multiprocessors.
 * Changed:  the last line names a queue (common/cuda/streams_queue.cu); the kernels are v2.6's.
 * Expect:   one picture as in v2.6. 1920x1080 with outputs=corners from page-locked memory: 2.07 MB a picture at 55 GB/s
 *           are 38 us, of which the kernels, some 30 us, hide behind the bus: 26,000 pictures a second, at least 1.6
 *           times as many as when upload, kernels and download follow one another.
 * Result:   23,000 pictures a second, 2.9 times as many as v2.6 (results/h200/harris/harris_1920x1080_corners.json): 48 GB/s.
 *           With 8 and 16 under way no more (results/h200x2/harris/queues.txt).
 * From:     cuda/v2.6
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/streams_queue.h"
#include "cuda/harris/shared/doubles.cuh"
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
    const bool edge = start < 0 || start + 32 * COLUMNS > in.width;
    int turned[COLUMNS];
    float largest = 0;
    struct harris_sums kept[KEPT][COLUMNS] = {};

    if (top >= in.height)
        return;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        turned[i] = edge ? reflected_sign(x + i, in.width) : 1;
    struct line above = make_line<SOBEL>(load(in, x, top - REACH - 1, edge));
    struct line own = make_line<SOBEL>(load(in, x, top - REACH, edge));
    unsigned next[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = load(in, x, top - REACH + 1 + i, edge);

#pragma unroll KEPT> 1 ? KEPT : 2
    for (int n = 0; n < rows + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH, turned_down = reflected_sign(y, in.height);
        const struct line below = make_line<SOBEL>(next[0]);
        struct harris_sums down[COLUMNS + 2 * REACH];
        float responses[COLUMNS];

#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++)
            next[i] = next[i + 1];
        next[AHEAD - 1] = load(in, x, y + 1 + AHEAD, edge);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const int gy = (below.sum[i] - above.sum[i]) * turned_down;
            const int gx =
                (SOBEL ? above.difference[i] + 2 * own.difference[i] + below.difference[i] : own.difference[i]) *
                turned[i];
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
                sums = weigh(sums, BOX ? 1 : params.taps[j], down[i + j]);
            responses[i] =
                harris_in_frame(&params, x + i, line, in.width, in.height) ? 0 : respond<SIZE, BOX>(params, sums);
        }
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

RUNGS_CUDA_VERSION(harris, .declines = walk_declines, .tunables = tunables, .queue = &streams_queue)
