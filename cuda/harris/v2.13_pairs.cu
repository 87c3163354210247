/*
 * Idea:     two gradients a register. They fit in 16 bits, and a sum of pairs is one addition, whatever its sign: low + 65536
 *           high. Products are of 32 bits again.
 * Changed:  make_pairs() and advance(). Each gx gy gets an addend, for nothing in its multiplication, that keeps the sums
 *           positive, so that they are halves of a double as they are.
 * Expect:   some 150 instructions for 4 pixels of a row in place of 185: 13 in place of 20 for differences and sums, 6 in place
 *           of 12 for gradients, of which 12 take them apart again; 12 exclusive ors less. Fewer registers let a fifth block
 *           onto a multiprocessor: a fifth faster.
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/steps/inside.cuh"
#include "cuda/harris/steps/strongest.h"

enum { MAX_WARPS = 4 /* of a block, one below the other */, LEAST_ROWS = 4 /* that a warp gives */ };
enum { ADDEND = 1 << 20 /* above any |gx gy| */ };

struct state {
    struct strongest_step corners;
};

static int warps = 4;
static const int warp_choices[] = {1, 2, MAX_WARPS, 0};
static struct tunable tunables[] = {{"warps", &warps, warp_choices, "warps of a block, one below the other"}, {}};

/* Of a thread's columns in one row: right less left neighbour, and both and the pixel weighed 1 2 1; without Sobel the
 * pixel alone. Columns 0 and 2 are one pair, 1 and 3 the other; a pair is low + 65536 high, where low may be negative. */
struct pairs {
    unsigned difference[2], sum[2];
};

template <bool SOBEL> static __device__ struct pairs make_pairs(unsigned word)
{
    const unsigned even = word & 0x00ff00ff, odd = __byte_perm(word, 0, 0x4341), both = even + odd;
    const unsigned left = __byte_perm(__shfl_up_sync(0xffffffff, odd, 1), odd, 0x5432);
    const unsigned right = __byte_perm(even, __shfl_down_sync(0xffffffff, even, 1), 0x5432);

    return {{odd - left, right - even}, {SOBEL ? left + even + both : even, SOBEL ? both + odd + right : odd}};
}

static __device__ int take(unsigned pair, int which)
{
    return which == 0 ? (int16_t)pair : (int)(pair + 0x8000) >> 16;
}

template <int SIZE, bool BOX>
static __device__ float respond(const struct harris_params &params, struct harris_sums sums)
{
    constexpr int WEIGHT = BOX ? SIZE * SIZE : SIZE < 5 ? 1 << 2 * (SIZE - 1) : 256, ADDED = WEIGHT * ADDEND;
    constexpr int HIGH = 0x43300000; /* with a number below it, 2^52 more than that */
    const double a = __hiloint2double(HIGH, sums.a) - 0x1p52, c = __hiloint2double(HIGH, sums.c) - 0x1p52;
    const double b = __hiloint2double(HIGH, sums.b) - (0x1p52 + (double)ADDED), trace = a + c;

    if constexpr (WEIGHT > 49) /* more than doubles hold (harris.h) */
        return harris_response(&params, {sums.a, sums.b - ADDED, sums.c});
    return (float)fma(-params.k, trace * trace, a * c - b * b) * params.scale;
}

/* What a thread takes along from row to row: of the last row its differences, and those of it and the one before added;
 * the sums of both. */
template <int SIZE, bool EDGE> struct walk {
    struct columns columns;
    struct pixels<EDGE> next[AHEAD];
    unsigned difference[2], differences[2], sums[2][2];
    struct harris_sums kept[SIZE > 1 ? SIZE - 1 : 1][COLUMNS];
};

/* Row y of the gradients: gives the sums down the columns of the window that ends there. */
template <int SIZE, bool SOBEL, bool BOX, bool EDGE>
static __device__ void advance(struct walk<SIZE, EDGE> *walk, const struct image &in,
                               const struct harris_params &params, int y, struct harris_sums down[COLUMNS])
{
    const struct pairs below = make_pairs<SOBEL>(join(walk->next[0], walk->columns));
    const unsigned turned_down = EDGE ? reflected_sign(y, in.height) : 1;

#pragma unroll
    for (int i = 0; i < AHEAD - 1; i++)
        walk->next[i] = walk->next[i + 1];
    walk->next[AHEAD - 1] = fetch<EDGE>(in, &walk->columns, y + 1 + AHEAD);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const int pair = i % 2;
        const unsigned differences = walk->difference[pair] + below.difference[pair];
        const int gx = take(SOBEL ? walk->differences[pair] + differences : walk->difference[pair], i / 2) *
                       (EDGE ? walk->columns.turned[i] : 1);
        const int gy = take((below.sum[pair] - walk->sums[0][pair]) * turned_down, i / 2);
        const struct harris_sums products = {gx * gx, gx * gy + ADDEND, gy * gy};
        down[i] = weigh({0, 0, 0}, BOX ? 1 : params.taps[SIZE - 1], products);
#pragma unroll
        for (int j = 0; j < SIZE - 1; j++) {
            down[i] = weigh(down[i], BOX ? 1 : params.taps[j], walk->kept[j][i]);
            walk->kept[j][i] = j + 1 < SIZE - 1 ? walk->kept[j + 1][i] : products;
        }
    }
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        walk->differences[pair] = walk->difference[pair] + below.difference[pair];
        walk->difference[pair] = below.difference[pair];
        walk->sums[0][pair] = walk->sums[1][pair];
        walk->sums[1][pair] = below.sum[pair];
    }
}

/* The response of `rows` rows from `top` on; returns the largest. */
template <int SIZE, bool SOBEL, bool BOX, bool EDGE>
static __device__ float walk_down(const struct image &in, const struct image &out, const struct harris_params &params,
                                  int top, int rows)
{
    constexpr int REACH = SIZE / 2;
    const int lane = threadIdx.x, x = blockIdx.x * STRIP + (lane - 1) * COLUMNS;
    const bool gives = lane > 0 && lane < 31 && x < in.width;
    const int bottom = EDGE ? min(top + rows, in.height) : top + rows;
    walk<SIZE, EDGE> carried = {};
    struct harris_sums down[COLUMNS + 2 * REACH], sums[COLUMNS];
    float largest = 0, responses[COLUMNS];
    uint8_t *to = (uint8_t *)image_row(&out, top) + (ptrdiff_t)x * (ptrdiff_t)sizeof(float);

    carried.columns = find_columns<EDGE>(in, x, top - REACH - 1);
    const struct pixels<EDGE> above = fetch<EDGE>(in, &carried.columns, top - REACH - 1);
    const struct pixels<EDGE> own = fetch<EDGE>(in, &carried.columns, top - REACH);
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        carried.next[i] = fetch<EDGE>(in, &carried.columns, top - REACH + 1 + i);
    const struct pairs first = make_pairs<SOBEL>(join(above, carried.columns)),
                       second = make_pairs<SOBEL>(join(own, carried.columns));
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        carried.differences[pair] = first.difference[pair] + second.difference[pair];
        carried.difference[pair] = second.difference[pair];
        carried.sums[0][pair] = first.sum[pair];
        carried.sums[1][pair] = second.sum[pair];
    }
#pragma unroll
    for (int y = -REACH; y < REACH; y++)
        advance<SIZE, SOBEL, BOX>(&carried, in, params, top + y, down + REACH);
#pragma unroll 2
    for (int y = top; y < bottom; y++) {
        advance<SIZE, SOBEL, BOX>(&carried, in, params, y + REACH, down + REACH);
        sum_along<SIZE, BOX>(params, down, sums);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const bool framed = EDGE && harris_in_frame(&params, x + i, y, in.width, in.height);
            const float response = respond<SIZE, BOX>(params, sums[i]);
            responses[i] = framed ? 0 : SIZE == 1 && params.window == HARRIS_NONE ? fabsf(response) : response;
        }
        for (int i = 0; i < COLUMNS && (!EDGE || x + i < in.width); i++)
            largest = fmaxf(largest, responses[i]);
        if (EDGE && gives)
            store(out, x, y, responses);
        else if (gives)
            *(float4 *)to = make_float4(responses[0], responses[1], responses[2], responses[3]);
        to += out.stride;
    }
    return gives ? largest : 0;
}

template <int SIZE, bool SOBEL, bool BOX>
static __global__ void __launch_bounds__(32 * MAX_WARPS, SIZE > 3 ? 1 : 5)
    harris_kernel(struct image in, struct image out, const __grid_constant__ struct harris_params params, int rows,
                  float *found)
{
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * rows;

    if (top >= in.height)
        return;
    const bool inside = is_inside(in, blockIdx.x * STRIP - COLUMNS, top, rows, SIZE / 2);
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
    const int strips = (int)ceiling_divide(in->width, STRIP);
    int device, multiprocessors, blocks, rows;

    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, 0));
    blocks = max(multiprocessors * blocks / strips, 1); /* one below the other */
    rows = max((int)ceiling_divide(in->height, blocks * warps), (int)LEAST_ROWS);
    TRY(strongest_begin(&state->corners, params, stream));
    kernel<<<dim3(strips, ceiling_divide(in->height, rows * warps)), dim3(32, warps), 0, stream>>>(
        *in, response, *params, rows, strongest_largest(&state->corners, params));
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
