/*
 * Idea:     all warps at once. A device has room for so many; the picture is shared out over just these, so that none waits
 *           for its turn and all end together.
 * Changed:  launch() asks how many blocks fit and gives each warp as many rows as that leaves; rows are no tunable any more.
 * Expect:   a tenth less. With 16 rows a warp 3840x2160 takes 1,088 blocks, of which 528 fit: two rounds and a bit; with 33 it
 *           takes one of 512, which computes 2 rows too many of 35 in place of 2 of 18.
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "common/cuda/devices_queue.h"
#include "cuda/harris/steps/advance.cuh"
#include "cuda/harris/steps/strongest.h"

enum { MAX_WARPS = 4 /* of a block, one below the other */, LEAST_ROWS = 4 /* that a warp gives */ };

struct state {
    struct strongest_step corners;
};

static int warps = 4;
static const int warp_choices[] = {1, 2, MAX_WARPS, 0};
static struct tunable tunables[] = {{"warps", &warps, warp_choices, "warps of a block, one below the other"}, {}};

static __device__ float respond(const struct harris_params &params, struct harris_sums sums)
{
    const double a = exact_double(sums.a), b = exact_double(sums.b), c = exact_double(sums.c), trace = a + c;

    return (float)fma(-params.k, trace * trace, a * c - b * b) * params.scale;
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
    carried.above = make_line<SOBEL>(join(above, carried.columns));
    carried.own = make_line<SOBEL>(join(own, carried.columns));
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
            const float response = SIZE < 5 || BOX ? respond(params, sums[i]) : harris_response(&params, sums[i]);
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
static __global__ void __launch_bounds__(32 * MAX_WARPS)
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
