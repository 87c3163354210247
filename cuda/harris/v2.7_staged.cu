/*
 * Idea:     faster copies to the device and back. A copy from or to ordinary memory goes through a small page-locked
 *           buffer of the driver, by one thread. With a buffer of its own the version copies by all threads, a band of
 *           rows at a time, while the bus carries the band before.
 * Changed:  run() and shared/staging.cu; the kernels are v2.6's.
 * Expect:   kernels as before. End to end at 3840x2160 with both outputs 41 MB cross the bus, 0.8 ms at 55 GB/s, behind
 *           copies of 16 threads of which all but one band is hidden: 1 to 1.5 ms in place of 3.8. With outputs=corners 8
 *           MB one way: 0.25 ms. On two cores the copies take longer than the bus, and little is gained.
 * Result:   as expected: 1.26 ms with both outputs, 3.15 times as fast as v2.6
 *           (results/h200/harris/harris_3840x2160_strongest.json).
 */
/* Try: make bench-harris VERSIONS=cuda P="outputs=corners" */
#include "common/algo/harris.h"
#include "common/cuda/device.h"
#include "cuda/harris/shared/doubles.cuh"
#include "cuda/harris/shared/lines.cuh"
#include "cuda/harris/shared/staging.h"
#include "cuda/harris/shared/strongest.h"

enum { AHEAD = 4 /* rows between a load and its use */, MAX_WARPS = 8 /* of a block, one below the other */ };

struct state {
    struct strongest_step corners;
    struct image in, out[2];
    struct staging staging;
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
    staging_teardown(&state->staging);
    device_image_free(&state->in);
    device_image_free(&state->out[0]);
    device_image_free(&state->out[1]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct harris_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (!state->in.data)
        TRY(device_image_create(&state->in, in));
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data && !state->out[slot].data)
            TRY(device_image_create(&state->out[slot], &out[slot]));
    TRY(staging_setup(&state->staging, (size_t)in->height * max(state->in.stride, state->out[0].stride)));
    TRY(staging_upload(&state->staging, &state->in, in, 0));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    if (out[0].data)
        TRY(staging_download(&state->staging, &out[0], &state->out[0], 0));
    if (out[1].data)
        TRY(device_download(&out[1], &state->out[1]));
out:
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(harris, .declines = walk_declines, .tunables = tunables)
