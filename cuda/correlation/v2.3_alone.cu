/*
 * Idea:     a warp works alone. With up to 32 planes each lane splits what it loads and multiplies it where it is, for
 *           both sides of a product want the same registers: no shared memory, no barrier.
 * Changed:  a second kernel, for each number of tiles up to 4; the samples of the next 16 pixels are loaded before those at
 *           hand are multiplied. More planes go the way of v2.2.
 * Expect:   31 bands of a million pixels in 45 us instead of 90: 24 warps of a multiprocessor have 48 KB under way, which is
 *           what the memory needs. 6 bands in 15 us instead of 32, half of them the start and the sums of blocks at the end.
 * Result:   15.9 us with 6 bands, 2.2 times v2.2 (results/h200/correlation/correlation_1024x1024x6.json). 31 bands take 44.9 us
 *           (profile_correlation_v2.3.txt beside it), 1.5 times the time to read them.
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.1,cuda/v2.2,cuda/v2.3,peer/cublas */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/shared/operands.cuh"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

enum { FEW = 12 /* warps of a block without a panel */ };

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

/* Up to SQUARE tiles: every warp has steps of its own. */
template <enum pixel_type TYPE, int TILES>
static __global__ void __launch_bounds__(32 * FEW, 2) own_kernel(struct plan plan, double *totals)
{
    constexpr int STEPS = LOADS / TILES;
    extern __shared__ float staged[];
    const int lane = threadIdx.x % 32;
    unsigned first = ((unsigned)blockIdx.x * plan.repeats * FEW + threadIdx.x / 32) * STEPS * STEP + lane % 4 * 4;
    float sums[SQUARE / 2][SQUARE][4] = {}, samples[STEPS][TILES][4];

    plan.in.type = TYPE;
    for (int k = 0; k < STEPS * TILES; k++)
        load_samples(plan.in, plan.shift, first + k / TILES * STEP, k % TILES * TILE + lane / 4, plan.planes,
                     samples[k / TILES][k % TILES]);
    for (int repeat = 0; repeat < plan.repeats; repeat++) {
        uint4 own[STEPS][TILES + 1] = {};
        for (int k = 0; k < STEPS * TILES; k++)
            own[k / TILES][k % TILES] = split_samples(samples[k / TILES][k % TILES]);
        first += FEW * STEPS * STEP;
        for (int k = 0; k < STEPS * TILES && repeat + 1 < plan.repeats; k++)
            load_samples(plan.in, plan.shift, first + k / TILES * STEP, k % TILES * TILE + lane / 4, plan.planes,
                         samples[k / TILES][k % TILES]);
        for (int step = 0; step < STEPS; step++)
            multiply_own<TILES>(sums, own[step], TYPE != PIXEL_F32);
    }
    add_squares(sums, make_int2(0, 0), plan, staged, totals);
}

template <enum pixel_type TYPE> static auto kernel_of(int tiles)
{
    return tiles == 1   ? own_kernel<TYPE, 1>
           : tiles == 2 ? own_kernel<TYPE, 2>
           : tiles == 3 ? own_kernel<TYPE, 3>
           : tiles == 4 ? own_kernel<TYPE, 4>
                        : sum_kernel<TYPE>;
}

static struct plan plan_for(const struct image *in, const struct correlation_params *params, int multiprocessors)
{
    return make_plan(in, params, multiprocessors, correlation_planes(in, params) <= SQUARE * TILE ? +FEW : +WARPS);
}

static auto kernel_for(const struct image *in, const struct plan *plan)
{
    return in->type == PIXEL_F32  ? kernel_of<PIXEL_F32>(plan->tiles)
           : in->type == PIXEL_U8 ? kernel_of<PIXEL_U8>(plan->tiles)
                                  : kernel_of<PIXEL_U16>(plan->tiles);
}

static __global__ void finish_kernel(struct image in, struct correlation_params params, const double *totals,
                                     struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (v >= in.channels || u > v)
        return;
    const double entry = correlation_entry(totals, &in, &params, u, v);
    ((double *)image_row(&out, u))[v] = entry;
    ((double *)image_row(&out, v))[u] = entry;
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
