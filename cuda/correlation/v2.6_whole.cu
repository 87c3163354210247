/*
 * Idea:     one block has all planes: each of its 16 warps has the sums of 64 by 32 of them. So up to 224 planes are
 *           loaded and split by one block only, and what a warp takes from shared memory serves many of its products.
 * Changed:  the kernel of more than 56 planes, but for 129 to 160, whose squares fill a block. The samples of the next panel are
 *           under way, with no branch between them, while the present one is multiplied, and three products lie between two of
 *           one sum. (A first form had it from 89 planes on.)
 * Expect:   198 bands of a million pixels in 0.5 ms instead of 1.55, where two blocks had each sample, and 64 registers sent a
 *           warp to local memory 36 million times, so that L2 was the limit (ncu_correlation_v2.4_198.txt in
 *           results/h200/correlation). 16 pixels are 192 instructions for each of a multiprocessor's tensor cores, 0.35 ms in
 *           all; splitting does not overlap with them. 156 bands in 0.35 ms instead of 0.78.
 * Result:   0.99 ms with 198 bands where cuBLAS takes 2.54, not 0.5: one block with two barriers a panel probably leaves the
 *           multiprocessor waiting. 156 bands took 0.92 by it and take 0.78 by squares; 81 take 0.29, v2.4: 0.35
 *           (results/h200/correlation/kernels_v2.6.txt), but v2.5 0.18 since its products are unrolled (kernels_v2.5.txt).
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.4,cuda/v2.5,cuda/v2.6,peer/cublas */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/shared/entries.cuh"

struct state {
    double *totals; /* in device memory: sums of products, and blocks that are done; 0 between calls of few planes */
    int multiprocessors;
};

enum { FEW = 12 /* warps of a block without a panel */, ALONE = 8 /* of more tiles */, MOST = 7 /* tiles */ };
enum { SQUARES_FROM = 17, SQUARES_TO = 20 /* tiles: a block has their squares in 15 warps, oblongs in 9 */ };

template <enum pixel_type TYPE>
static __global__ void __launch_bounds__(32 * WARPS, 2) sum_kernel(struct plan plan, double *totals,
                                                                     struct correlation_params, struct image)
{
    extern __shared__ __align__(16) uint4 panel[];
    const int pixels = plan.steps * STEP, warp = threadIdx.x / 32;
    const int64_t count = (int64_t)plan.in.width * plan.in.height, begin = (int64_t)blockIdx.x * plan.repeats * pixels;
    const int2 square = place_square(blockIdx.y * plan.squares + warp % plan.squares, plan.tiles);
    float sums[SQUARE / 2][SQUARE][4] = {};

    plan.in.type = TYPE;
    for (int64_t first = begin; first < min(begin + (int64_t)plan.repeats * pixels, count); first += pixels) {
        __syncthreads();
        load_panel(plan, first, panel);
        __syncthreads();
        for (int step = warp / plan.squares; step < plan.steps; step += plan.warps / plan.squares)
            multiply_square(sums, panel + step * plan.tiles * 32, square.x, square.y, plan.tiles, TYPE != PIXEL_F32);
    }
    add_squares(sums, square, plan, (float *)panel, totals);
}

template <enum pixel_type TYPE>
static __global__ void __launch_bounds__(32 * WARPS, 1) whole_kernel(struct plan plan, double *totals,
                                                                       struct correlation_params, struct image)
{
    extern __shared__ __align__(16) uint4 panel[];
    const int pixels = plan.steps * STEP, warp = threadIdx.x / 32;
    const unsigned begin = blockIdx.x * plan.repeats * pixels, count = plan.in.width * plan.in.height;
    const unsigned end = min(begin + plan.repeats * pixels, count);
    const int2 place = place_oblong(blockIdx.y * plan.squares + warp % plan.squares);
    float sums[SQUARE][SQUARE][4] = {}, samples[LOADS][4];
    int places[LOADS];

    plan.in.type = TYPE;
    place_samples(plan, places);
    fetch_panel<TYPE>(plan, begin, places, samples);
    for (unsigned first = begin; first < end; first += pixels) {
        __syncthreads();
        store_panel(plan, samples, panel);
        load_panel(plan, first, panel, LOADS * plan.warps);
        __syncthreads();
        if (first + pixels < end)
            fetch_panel<TYPE>(plan, first + pixels, places, samples);
        for (int step = warp / plan.squares; step < plan.steps; step += plan.warps / plan.squares)
            multiply_oblong(sums, panel + step * plan.tiles * 32, place, plan.tiles, TYPE != PIXEL_F32);
    }
    add_squares(sums, place, plan, (float *)panel, totals);
}

/* Up to MOST tiles: every warp has steps of its own. */
template <enum pixel_type TYPE, int TILES>
static __global__ void __launch_bounds__(TILES > +SQUARE ? 32 * ALONE : 32 * FEW, TILES > +SQUARE ? 1 : 2)
    own_kernel(struct plan plan, double *totals, struct correlation_params params, struct image out)
{
    constexpr bool AHEAD = TILES <= SQUARE;
    constexpr int STEPS = AHEAD ? LOADS / TILES : 1, OWN = AHEAD ? FEW : ALONE;
    extern __shared__ float staged[];
    const int lane = threadIdx.x % 32;
    unsigned first = ((unsigned)blockIdx.x * plan.repeats * OWN + threadIdx.x / 32) * STEPS * STEP + lane % 4 * 4;
    float sums[(TILES + 1) / 2][TILES][4] = {}, samples[STEPS][TILES][4];

    plan.in.type = TYPE;
    for (int step = 0; step < STEPS && AHEAD; step++)
        load_own<TYPE, TILES>(plan, first + step * STEP, samples[step]);
    for (int repeat = 0; repeat < plan.repeats; repeat++) {
        uint4 own[STEPS][TILES + 1] = {};
        if (!AHEAD)
            load_own<TYPE, TILES>(plan, first, samples[0]);
        for (int k = 0; k < STEPS * TILES; k++)
            own[k / TILES][k % TILES] = split_samples(samples[k / TILES][k % TILES]);
        first += OWN * STEPS * STEP;
        for (int step = 0; step < STEPS && AHEAD && repeat + 1 < plan.repeats; step++)
            load_own<TYPE, TILES>(plan, first + step * STEP, samples[step]);
        for (int step = 0; step < STEPS; step++)
            multiply_own<TILES>(sums, own[step], TYPE != PIXEL_F32);
    }
    add_own<TILES>(sums, plan, staged, totals);
    finish_last(plan, params, out, (double *)staged, totals);
}

static bool in_squares(int tiles)
{
    return tiles >= SQUARES_FROM && tiles <= SQUARES_TO;
}

template <enum pixel_type TYPE> static auto kernel_of(int tiles)
{
    return tiles == 1      ? own_kernel<TYPE, 1>
           : tiles == 2    ? own_kernel<TYPE, 2>
           : tiles == 3    ? own_kernel<TYPE, 3>
           : tiles == 4    ? own_kernel<TYPE, 4>
           : tiles <= MOST ? own_kernel<TYPE, MOST>
           : in_squares(tiles) ? sum_kernel<TYPE>
                               : whole_kernel<TYPE>;
}

static struct plan plan_for(const struct image *in, const struct correlation_params *params, int multiprocessors)
{
    const bool few = correlation_planes(in, params) <= SQUARE * TILE;
    struct plan plan = make_plan(in, params, multiprocessors, few ? +FEW : +ALONE, few ? +SQUARE : +MOST);

    if (plan.tiles > MOST)
        return make_plan(in, params, multiprocessors, WARPS, SQUARE, in_squares(plan.tiles) ? SQUARE / 2 : +SQUARE);
    plan.shared = max(plan.shared, few ? 0 : sizeof(double) * MOST * MOST * TILE * TILE); /* all totals */
    return plan;
}

static auto kernel_for(const struct image *in, const struct plan *plan)
{
    return in->type == PIXEL_F32  ? kernel_of<PIXEL_F32>(plan->tiles)
           : in->type == PIXEL_U8 ? kernel_of<PIXEL_U8>(plan->tiles)
                                  : kernel_of<PIXEL_U16>(plan->tiles);
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    const size_t planes = correlation_planes(in, params);
    enum status status = STATUS_OK;
    struct plan plan;
    int device;

    if (state->totals)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    plan = plan_for(in, params, state->multiprocessors);
    CUDA_TRY(cudaFuncSetAttribute(kernel_for(in, &plan), cudaFuncAttributeMaxDynamicSharedMemorySize, plan.shared));
    TRY(device_allocate((void **)&state->totals, (planes * planes + 1) * sizeof *state->totals));
    CUDA_TRY(cudaMemset(state->totals, 0, (planes * planes + 1) * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    struct plan plan = plan_for(in, params, state->multiprocessors);
    const bool few = plan.tiles <= MOST;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(plan.planes, block.x), ceiling_divide(plan.planes, block.y));

    if (!few)
        CUDA_TRY(cudaMemsetAsync(state->totals, 0, sizeof *state->totals * plan.planes * plan.planes, stream));
    kernel_for(in, &plan)<<<plan.blocks, 32 * plan.warps, plan.shared, stream>>>(plan, state->totals, *params, *out);
    CUDA_TRY(cudaGetLastError());
    if (!few)
        finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(correlation, .unavailable = unavailable)
