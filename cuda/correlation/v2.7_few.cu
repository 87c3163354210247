/*
 * Idea:     up to 6 bands are ordinary multiply-adds: a thread keeps all sums of its pixels in registers, 6 for 3 bands, 21
 *           for 6, and loads 16 bytes at a time. Of the tensor cores' tiles of 8 planes most would be empty, and splitting
 *           costs more than what is multiplied.
 * Changed:  f32 cubes of up to 6 bands, without gaps and center=0, have a kernel of their own: one block of 1024 threads on each
 *           multiprocessor, so that 132 blocks instead of 261 add to the totals.
 * Expect:   3 bands of a million pixels are 12 MB, 3 us, and 6 bands 6 us; then come start and end of a kernel, some 5 us: a block's
 *           sums, an atomic addition, the fence, the count of blocks, the totals: 8 and 11 us instead of 11.6 and 12.1. 8.3
 *           million: 29 and 53 us, near the time to read them, 24 and 48.
 * Result:   7.6 us with 3 bands in place of 11.6, 20 times cuBLAS; with 6 bands 11.8 in place of 12.1, probably because 21 sums a
 *           thread leave too few warps (results/h200/correlation/correlation_1024x1024x3_few.json and x6). 8.3 million pixels of 3 bands: 25.9 us in
 *           place of 65.6, where reading takes 23.5 (correlation_2880x2880x3_few.json).
 * From:     cuda/v2.5
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.4,cuda/v2.5,cuda/v2.7,peer/cublas */
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

enum { BANDS = 6 /* at most, for the plain cores */, THREADS = 1024 };
/* Adds the products of all pairs of a pixel's bands. */
template <int N> static __device__ inline void add_pixel(float sums[], const float *pixel)
{
    UNROLL
    for (int u = 0, k = 0; u < N; u++)
        UNROLL
    for (int v = u; v < N; v++, k++)
        sums[k] += pixel[u] * pixel[v];
}

/* Few bands: of the pixels in QUADS times 16 bytes, the sums of all pairs of bands, u <= v. */
template <int N>
static __global__ void __launch_bounds__(THREADS, 1)
    few_kernel(struct plan plan, double *totals, struct correlation_params params, struct image out)
{
    constexpr int PIXELS = N % 4 == 0 ? 1 : N % 2 == 0 ? 2 : 4, QUADS = PIXELS * N / 4, PAIRS = N * (N + 1) / 2;
    constexpr int AT_ONCE = QUADS > 3 ? 1 : 2;
    extern __shared__ __align__(16) uint4 panel[];
    const float4 *const cube = (const float4 *)plan.in.data;
    const unsigned groups = plan.in.width / PIXELS, id = blockIdx.x * THREADS + threadIdx.x;
    float sums[PAIRS] = {}, samples[AT_ONCE][PIXELS * N], *const staged = (float *)panel;

    for (unsigned first = id; first < groups; first += AT_ONCE * gridDim.x * THREADS) {
        for (int k = 0; k < AT_ONCE * QUADS; k++) {
            const unsigned group = first + k / QUADS * gridDim.x * THREADS;
            const float4 quad = group < groups ? cube[(size_t)group * QUADS + k % QUADS] : make_float4(0, 0, 0, 0);
            *(float4 *)&samples[k / QUADS][k % QUADS * 4] = quad;
        }
        for (int k = 0; k < AT_ONCE * PIXELS; k++)
            add_pixel<N>(sums, &samples[k / PIXELS][k % PIXELS * N]);
    }
    if (id < (unsigned)plan.in.width % PIXELS)
        add_pixel<N>(sums, (const float *)cube + (size_t)(groups * PIXELS + id) * N);
    UNROLL
    for (int k = 0; k < PAIRS; k++)
        staged[k * THREADS + threadIdx.x] = sums[k];
    __syncthreads();
    for (int k = threadIdx.x / 32; k < PAIRS; k += THREADS / 32) {
        int u = 0, v = k;
        double sum = 0;
        for (int other = threadIdx.x % 32; other < THREADS; other += 32)
            sum += staged[k * THREADS + other];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
        for (; v >= N - u; u++)
            v -= N - u;
        if (threadIdx.x % 32 == 0)
            atomicAdd(&totals[u * N + u + v], sum);
    }
    finish_last(plan, params, out, (double *)panel, totals);
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

static auto kernel_of_few(int bands)
{
    return bands == 1   ? few_kernel<1>
           : bands == 2 ? few_kernel<2>
           : bands == 3 ? few_kernel<3>
           : bands == 4 ? few_kernel<4>
           : bands == 5 ? few_kernel<5>
                        : few_kernel<BANDS>;
}

static struct plan plan_for(const struct image *in, const struct correlation_params *params, int multiprocessors)
{
    const bool few = correlation_planes(in, params) <= SQUARE * TILE;
    struct plan plan = make_plan(in, params, multiprocessors, few ? +FEW : +ALONE, few ? +SQUARE : +MOST);

    if (in->type == PIXEL_F32 && !params->center && in->channels <= BANDS && plan.in.height == 1) {
        plan.warps = THREADS / 32;
        plan.shared = sizeof(float) * THREADS * plan.planes * (plan.planes + 1) / 2;
        plan.blocks = dim3(min(max(multiprocessors, plan.in.width >> 19), ceiling_divide(plan.in.width, THREADS)));
        return plan;
    }
    if (plan.tiles > MOST)
        return make_plan(in, params, multiprocessors, WARPS);
    plan.shared = max(plan.shared, few ? 0 : sizeof(double) * MOST * MOST * TILE * TILE); /* all totals */
    return plan;
}

static auto kernel_for(const struct image *in, const struct plan *plan)
{
    if (plan->warps * 32 == THREADS)
        return kernel_of_few(plan->planes);
    return in->type == PIXEL_F32  ? kernel_of<PIXEL_F32>(plan->tiles)
           : in->type == PIXEL_U8 ? kernel_of<PIXEL_U8>(plan->tiles)
                                  : kernel_of<PIXEL_U16>(plan->tiles);
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    const size_t planes = correlation_planes(in, params);
    enum status status = STATUS_OK;
    int device;

    if (state->totals)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
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

    CUDA_TRY(cudaFuncSetAttribute(kernel_for(in, &plan), cudaFuncAttributeMaxDynamicSharedMemorySize, plan.shared));
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
