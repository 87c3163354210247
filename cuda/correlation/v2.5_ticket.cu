/*
 * Idea:     one launch instead of three. With few planes the last block to finish finds all totals complete: it makes
 *           the matrix of them, and leaves the totals at zero for the next call.
 * Changed:  up to 88 planes neither a memset nor a second kernel: blocks count themselves behind a fence.
 * Expect:   2.5 us less, two starts of 1 us and half a memset: 11 us with 3 and 12 with 6 bands of a million pixels, 41 with 31.
 * Result:   11.6 us with 3 bands, v2.4 13.7 (results/h200/correlation/correlation_1024x1024x3_ticket.json); with 31 as v2.4, 39.8.
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.3,cuda/v2.4,cuda/v2.5,peer/cublas */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/shared/entries.cuh"

struct state {
    double *totals; /* in device memory: sums of products, and blocks that are done; 0 between calls of few planes */
    int multiprocessors;
};

enum { FEW = 12 /* warps of a block without a panel */, ALONE = 8 /* of more tiles */, MOST = 11 /* tiles */ };

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
