/*
 * Idea:     a warp works alone with up to 88 planes, too, because a lane has registers for its 144 sums of 11 by 11
 *           tiles. A sample then never passes through shared memory, where v2.2 moves it three times.
 * Changed:  the kernel of few planes takes up to 11 tiles. Above 4 it has 8 warps a multiprocessor and loads no samples ahead,
 *           for both take registers. The warps' sums are added up a row of tiles at a time. Between the loads of f32 pixels lies
 *           no branch.
 * Expect:   81 bands of a million pixels: 44 loads, 130 instructions to split and 108 of the tensor cores for 16 pixels, which
 *           other warps overlap with waiting for memory: 120 us instead of 351.
 * Result:   13.8 us with 3 bands and 14.4 with 6, both 1.1 times v2.3, and 39.4 instead of 44.0 with 31 (correlation_1024x1024x3.json,
 *           correlation_1024x1024x6.json, ncu_correlation_v2.4_31.txt in results/h200/correlation). 81 bands gained nothing, 354
 *           us (kernels_v2.6.txt), while nvcc kept the loop over their products and, so, operands in local memory; unrolled,
 *           as it is now, v2.5, whose sums are made the same way, takes 180 us (kernels_v2.5.txt).
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.2,cuda/v2.3,cuda/v2.4,peer/cublas */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/shared/entries.cuh"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

enum { FEW = 12 /* warps of a block without a panel */, ALONE = 8 /* of more tiles */, MOST = 11 /* tiles */ };

template <enum pixel_type TYPE>
static __global__ void __launch_bounds__(32 * WARPS, 2) sum_kernel(struct plan plan, double *totals)
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

/* Up to MOST tiles: every warp has steps of its own. */
template <enum pixel_type TYPE, int TILES>
static __global__ void __launch_bounds__(TILES > +SQUARE ? 32 * ALONE : 32 * FEW, TILES > +SQUARE ? 1 : 2)
    own_kernel(struct plan plan, double *totals)
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
}

template <enum pixel_type TYPE> static auto kernel_of(int tiles)
{
    return tiles == 1      ? own_kernel<TYPE, 1>
           : tiles == 2    ? own_kernel<TYPE, 2>
           : tiles == 3    ? own_kernel<TYPE, 3>
           : tiles == 4    ? own_kernel<TYPE, 4>
           : tiles <= 7    ? own_kernel<TYPE, 7>
           : tiles <= MOST ? own_kernel<TYPE, MOST>
                           : sum_kernel<TYPE>;
}

static struct plan plan_for(const struct image *in, const struct correlation_params *params, int multiprocessors)
{
    const bool few = correlation_planes(in, params) <= SQUARE * TILE;
    struct plan plan = make_plan(in, params, multiprocessors, few ? +FEW : +ALONE, few ? +SQUARE : +MOST);

    if (plan.tiles > MOST)
        return make_plan(in, params, multiprocessors, WARPS);
    plan.shared = max(plan.shared, sizeof(float) * MOST * PRODUCTS * ALONE);
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
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct plan plan = plan_for(in, params, state->multiprocessors);
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(plan.planes, block.x), ceiling_divide(plan.planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)plan.planes * plan.planes * sizeof *state->totals, stream));
    kernel_for(in, &plan)<<<plan.blocks, 32 * plan.warps, plan.shared, stream>>>(plan, state->totals);
    CUDA_TRY(cudaGetLastError());
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
