/*
 * Idea:     a warp walks down a strip of 120 columns and keeps all that the next rows need in registers. A thread has 4
 *           columns: one load and 8 dp4a a row give its horizontal differences and sums, a few additions the gradients; what
 *           its neighbours know it asks them for by shuffle.
 * Changed:  the kernel; no tile and no barrier. Columns left and right of the picture are computed like others from
 *           reflected pixels, where gx, and above and below gy, only has the other sign. Doubles are exact (harris.h): sizes
 *           1, 3, 5 and 7.
 * Expect:   kernel 6 times faster at 3840x2160, below 20 us: 31 instructions a pixel, of which 8 are in doubles, are 9 us
 *           at 4 a cycle, and halos add a fifth. v1.3 spends some 200, most of them on addresses and reflections.
 * From:     cuda/v1.3
 */
/* Try: make bench-harris VERSIONS=cuda,peer/npp P="outputs=response" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/steps/corners.h"

enum {
    COLUMNS = 4,                /* of a thread: a word of pixels */
    STRIP = (32 - 2) * COLUMNS, /* columns that a warp gives; its first and last thread only know what others ask for */
    ROWS = 32,                  /* that it gives */
    WARPS = 4                   /* of a block, one below the other */
};

struct state {
    struct corners_step corners;
};

/* Of a thread's columns in one row: right less left neighbour, and their sum weighed 1 2 1; without Sobel the pixel alone.
 * Pixels are taken as pixel - 128, which differences do not notice. */
struct line {
    int difference[COLUMNS], sum[COLUMNS];
};

/* 0 for an even number of reflections on the way from i to a pixel inside, 1 for an odd one. */
static __device__ int reflections(int i, int n)
{
    int count = 0;

    for (; n > 1 && (i < 0 || i >= n); count++)
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return count % 2;
}

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

template <bool SOBEL> static __device__ struct line make_line(unsigned pixels)
{
    const unsigned word = pixels ^ 0x80808080, left = __shfl_up_sync(0xffffffff, word, 1);
    const unsigned right = __shfl_down_sync(0xffffffff, word, 1);
    const unsigned around[COLUMNS] = {__byte_perm(left, word, 0x6543), word, word >> 8,
                                      __byte_perm(word, right, 0x5432)}; /* bytes 0 to 2: left, own, right */
    struct line line;

#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        line.difference[i] = __dp4a((int)around[i], 0x000100ff, 0);
        line.sum[i] = __dp4a((int)around[i], SOBEL ? 0x00010201 : 0x00000100, 0);
    }
    return line;
}

/* Exact, and one addition, where the conversion would take four times as long: x + 2^31 is the mantissa of 2^52 + x + 2^31. */
static __device__ double exact_double(int x)
{
    return __hiloint2double(0x43300000, x ^ (int)0x80000000) - (0x1p52 + 0x1p31);
}

static __device__ float respond(const struct harris_params &params, int a, int b, int c)
{
    const double da = exact_double(a), db = exact_double(b), dc = exact_double(c), trace = da + dc;
    const float response = (float)fma(-params.k, trace * trace, da * dc - db * db) * params.scale;

    return params.window == HARRIS_NONE ? fabsf(response) : response;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * WARPS)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params)
{
    constexpr int REACH = SIZE / 2, KEPT = SIZE > 1 ? SIZE - 1 : 1;
    const int lane = threadIdx.x, start = blockIdx.x * STRIP - COLUMNS, x = start + lane * COLUMNS;
    const int top = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    const bool edge = start < 0 || start + 32 * COLUMNS > in.width;
    int turned[COLUMNS], kept[KEPT][3][COLUMNS] = {};

    if (top >= in.height)
        return;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        turned[i] = edge ? -reflections(x + i, in.width) : 0;
    struct line above = make_line<SOBEL>(load(in, x, top - REACH - 1, edge));
    struct line own = make_line<SOBEL>(load(in, x, top - REACH, edge));
    unsigned next = load(in, x, top - REACH + 1, edge); /* a row ahead of the work, so that the work hides the wait */

#pragma unroll KEPT> 1 ? KEPT : 2
    for (int n = 0; n < ROWS + SIZE - 1; n++) {
        const int y = top - REACH + n, turned_down = -reflections(y, in.height);
        const struct line below = make_line<SOBEL>(next);
        int products[3][COLUMNS], down[3][COLUMNS + 2 * REACH];

        next = load(in, x, y + 2, edge);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            int gx = own.difference[i], gy = below.sum[i] - above.sum[i];
            if (SOBEL)
                gx = 2 * gx + above.difference[i] + below.difference[i];
            gx = (gx ^ turned[i]) - turned[i]; /* -gx where turned is -1 */
            gy = (gy ^ turned_down) - turned_down;
            products[0][i] = gx * gx;
            products[1][i] = gx * gy;
            products[2][i] = gy * gy;
        }
        above = own;
        own = below;

#pragma unroll
        for (int kind = 0; kind < 3; kind++) {
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) {
                int sum = BOX ? products[kind][i] : params.taps[SIZE - 1] * products[kind][i];
#pragma unroll
                for (int j = 0; j < SIZE - 1; j++) {
                    sum += BOX ? kept[j][kind][i] : params.taps[j] * kept[j][kind][i];
                    kept[j][kind][i] = j + 1 < SIZE - 1 ? kept[(j + 1) % KEPT][kind][i] : products[kind][i];
                }
                down[kind][REACH + i] = sum;
            }
#pragma unroll
            for (int i = 0; i < REACH; i++) {
                down[kind][i] = __shfl_up_sync(0xffffffff, down[kind][COLUMNS + i], 1);
                down[kind][REACH + COLUMNS + i] = __shfl_down_sync(0xffffffff, down[kind][REACH + i], 1);
            }
        }

        const int line = y - REACH;
        float responses[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            int sums[3] = {};
#pragma unroll
            for (int kind = 0; kind < 3; kind++)
#pragma unroll
                for (int j = 0; j < SIZE; j++)
                    sums[kind] += BOX ? down[kind][i + j] : params.taps[j] * down[kind][i + j];
            responses[i] = respond(params, sums[0], sums[1], sums[2]);
            if (params.border == HARRIS_FRAME && harris_in_frame(&params, x + i, line, in.width, in.height))
                responses[i] = 0;
        }
        if (line < top || line >= in.height || lane == 0 || lane == 31 || x >= in.width)
            continue;
        float *to = (float *)image_row(&out, line) + x;
        if (x + COLUMNS <= in.width)
            *(float4 *)to = make_float4(responses[0], responses[1], responses[2], responses[3]);
        else
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                if (x + i < in.width)
                    to[i] = responses[i];
    }
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return corners_setup(&state->corners, in, params);
}

static const char *declines(const struct image in[], const void *params)
{
    const int size = ((const struct harris_params *)params)->size;

    (void)in;
    return size % 2 == 0 || size > 7 ? "windows of 1, 3, 5 and 7 pixels alone; cuda/v1.3 takes any" : NULL;
}

typedef void kernel_function(struct image in, struct image out, const struct harris_params params);

template <bool SOBEL> static kernel_function *choose_kernel(const struct harris_params *params)
{
    if (params->window == HARRIS_GAUSSIAN)
        return params->size == 3 ? harris_kernel<3, SOBEL, false> : harris_kernel<5, SOBEL, false>;
    return params->size == 1   ? harris_kernel<1, SOBEL, true>
           : params->size == 3 ? harris_kernel<3, SOBEL, true>
           : params->size == 5 ? harris_kernel<5, SOBEL, true>
                               : harris_kernel<7, SOBEL, true>;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    kernel_function *kernel =
        params->gradient == HARRIS_SOBEL ? choose_kernel<true>(params) : choose_kernel<false>(params);
    dim3 block(32, WARPS);
    dim3 grid(ceiling_divide(in->width, STRIP), ceiling_divide(in->height, ROWS * WARPS));

    kernel<<<grid, block, 0, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
}

RUNGS_CUDA_VERSION(harris, .declines = declines)
