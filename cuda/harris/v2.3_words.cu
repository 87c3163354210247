/*
 * Idea:     4 pixels are a word. A thread loads one word a row and asks the threads beside it for the neighbours, and
 *           dp4a takes differences and sums straight from the bytes. The next word is loaded a row ahead of the work.
 * Changed:  load() and make_line(). Only strips that reach over an edge reflect pixels one by one.
 * Expect:   kernel 1.5 times faster: one load and 2 shuffles in place of 6 loads, 8 dp4a in place of 20 additions, and no
 *           wait for the load, which the row before hides.
 * Result:   58.1 us, 1.31 times v2.2 and 1.04 times v2.1 (results/h200/harris/harris_3840x2160_response.json).
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/corners.h"
#include "cuda/harris/shared/walk.cuh"

enum {
    COLUMNS = 4,                /* of a thread: a word of pixels */
    STRIP = (32 - 2) * COLUMNS, /* that a warp gives */
    ROWS = 32,                  /* that a warp gives */
    WARPS = 4                   /* of a block, one below the other */
};

struct state {
    struct corners_step corners;
};

/* Of a thread's columns in one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the
 * pixel alone. Pixels are taken as pixel - 128, which differences do not notice. */
struct line {
    int difference[COLUMNS], sum[COLUMNS];
};

static __device__ struct line make_line(unsigned pixels, bool sobel)
{
    const unsigned word = pixels ^ 0x80808080, left = __shfl_up_sync(0xffffffff, word, 1);
    const unsigned right = __shfl_down_sync(0xffffffff, word, 1);
    const unsigned around[COLUMNS] = {__byte_perm(left, word, 0x6543), word, word >> 8,
                                      __byte_perm(word, right, 0x5432)}; /* bytes 0 to 2: left, own, right */
    struct line line;

#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        line.difference[i] = __dp4a((int)around[i], 0x000100ff, 0);
        line.sum[i] = __dp4a((int)around[i], sobel ? 0x00010201 : 0x00000100, 0);
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
    const bool edge = start < 0 || start + 32 * COLUMNS > in.width;
    const bool sobel = params.gradient == HARRIS_SOBEL;
    int turned[COLUMNS];
    struct harris_sums kept[KEPT][COLUMNS] = {};

    if (top >= in.height)
        return;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        turned[i] = edge ? reflected_sign(x + i, in.width) : 1;
    struct line above = make_line(load(in, x, top - REACH - 1, edge), sobel);
    struct line own = make_line(load(in, x, top - REACH, edge), sobel);
    unsigned next = load(in, x, top - REACH + 1, edge); /* a row ahead of the work, so that the work hides the wait */

#pragma unroll KEPT> 1 ? KEPT : 2
    for (int n = 0; n < ROWS + SIZE - 1; n++) {
        const int y = top - REACH + n, line = y - REACH, turned_down = reflected_sign(y, in.height);
        const struct line below = make_line(next, sobel);
        struct harris_sums down[COLUMNS + 2 * REACH];
        float responses[COLUMNS];

        next = load(in, x, y + 2, edge);
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
            responses[i] =
                harris_in_frame(&params, x + i, line, in.width, in.height) ? 0 : harris_response(&params, sums);
        }
        if (line >= top && line < in.height && lane > 0 && lane < 31 && x < in.width)
            store(out, x, line, responses);
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
