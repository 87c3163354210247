/*
 * Problem:  With 3 bands cuda/v2.2 fills 3 of 8 planes of a tile and splits samples for nothing.
 * Idea:     Up to 6 bands of f32: all pairs of bands are sums in registers of a thread (6 for 3
 *           bands, 21 for 6) that loads 16 bytes at a time, without tensor cores. One block of 1024
 *           threads per multiprocessor. More bands: shared/one_pass.cuh, as before.
 * Expect:   8 us with 3 bands, 3 of it reading; 8.3 million pixels: 29 us, of which reading is 24.
 * Result:   1.37 times as fast as cuda/v2.2 with 3 bands, 8.8 us
 *           (results/h100/correlation/correlation_1024x1024x3.json); 36 us with 8.3 million pixels.
 * Run:      make bench-correlation VERSIONS=cuda/v2.2,cuda/v2.3,peer/cublas
 */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/shared/one_pass.cuh"

struct state {
    double *totals; /* in device memory: sums of products, and blocks that are done; 0 between calls of few planes */
    int multiprocessors;
};

enum { TOTALS = 88 * 88 * 8 /* bytes */ };

/* Square blockIdx.y of the triangle of squares (operands.cuh): its warps share the pixels. */
template <enum pixel_type TYPE>
static __global__ void __launch_bounds__(32 * WARPS, 2)
    sum_kernel(struct image in, const float *shift, int planes, int steps, double *totals)
{
    __shared__ __align__(16) float staged[WARPS * SQUARE * PRODUCTS];
    const int lane = threadIdx.x % 32, sides = (planes + SIDE - 1) / SIDE;
    unsigned first = (blockIdx.x * WARPS + threadIdx.x / 32) * steps * STEP + lane % 4 * 4;
    float sums[SQUARE / 2][SQUARE][4] = {}, samples[2 * SQUARE][4];

    int row = 0, column = blockIdx.y;
    for (; column >= sides - row; row++)
        column -= sides - row;
    row *= SIDE, column = column * SIDE + row;
    in.type = TYPE;
    for (int step = 0; step < steps; step++, first += STEP) {
        uint4 own[2 * SQUARE]; /* tiles of the rows, then of the columns */
#pragma unroll
        for (int k = 0; k < 2 * SQUARE; k++)
            load_samples(in, shift, first, (k < SQUARE ? row : column) + k % SQUARE * TILE + lane / 4, planes,
                         samples[k]);
#pragma unroll
        for (int k = 0; k < 2 * SQUARE; k++)
            own[k] = split_samples(samples[k]);
#pragma unroll
        for (int k = 0; k < (TYPE == PIXEL_F32 ? 3 : 1) * SQUARE * SQUARE / 2; k++) {
            const int part = k / (SQUARE * SQUARE / 2), r = k / SQUARE % (SQUARE / 2), c = k % SQUARE;
            if (row < column || c >= 2 * r)
                multiply(sums[r][c], own[2 * r], own[2 * r + 1], own[SQUARE + c], part);
        }
    }
    add_sums<SQUARE / 2, SQUARE>(sums, row, column, planes, staged, totals);
}

template <enum pixel_type TYPE, int TILES>
static __global__ void __launch_bounds__(TILES > +SQUARE ? 32 * WARPS : 32 * FEW, TILES > +SQUARE ? 1 : 2)
    own_kernel(struct image in, const float *shift, int planes, int repeats, double *totals,
               struct correlation_params params, struct image out)
{
    extern __shared__ __align__(16) float shared[];

    sum_own<TYPE, TILES>(in, shift, planes, repeats, shared, totals);
    finish_last(in, params, planes, out, (double *)shared, totals);
}

template <enum pixel_type TYPE> static auto own_kernel_of(int tiles)
{
    return tiles == 1   ? own_kernel<TYPE, 1>
           : tiles == 2 ? own_kernel<TYPE, 2>
           : tiles == 3 ? own_kernel<TYPE, 3>
           : tiles == 4 ? own_kernel<TYPE, 4>
           : tiles <= 7 ? own_kernel<TYPE, 7>
                        : own_kernel<TYPE, MOST>;
}

static auto own_kernel_for(const struct image *in, int tiles)
{
    return in->type == PIXEL_F32  ? own_kernel_of<PIXEL_F32>(tiles)
           : in->type == PIXEL_U8 ? own_kernel_of<PIXEL_U8>(tiles)
                                  : own_kernel_of<PIXEL_U16>(tiles);
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

enum {
    BANDS = 6 /* at most, for plain cores */,
    THREADS = 1024,
    STAGED = 4 * THREADS * BANDS * (BANDS + 1) / 2 /* bytes */
};

/* Adds the products of all pairs of a pixel's bands. */
template <int N> static __device__ inline void add_pixel(float sums[], const float *pixel)
{
    int k = 0;

#pragma unroll
    for (int u = 0; u < N; u++)
#pragma unroll
        for (int v = u; v < N; v++)
            sums[k++] += pixel[u] * pixel[v];
}

/* A thread loads QUADS times 16 bytes at a time, PIXELS whole pixels, and has the sums of all pairs u <= v. */
template <int N>
static __global__ void __launch_bounds__(THREADS, 1)
    few_kernel(struct image in, double *totals, struct correlation_params params, struct image out)
{
    constexpr int PIXELS = N % 4 == 0 ? 1 : N % 2 == 0 ? 2 : 4, QUADS = PIXELS * N / 4, PAIRS = N * (N + 1) / 2;
    constexpr int AT_ONCE = QUADS > 3 ? 1 : 2;
    extern __shared__ __align__(16) float shared[];
    const float4 *const cube = (const float4 *)in.data;
    const unsigned groups = in.width / PIXELS, id = blockIdx.x * THREADS + threadIdx.x;
    float sums[PAIRS] = {}, samples[AT_ONCE][PIXELS * N];

    for (unsigned first = id; first < groups; first += AT_ONCE * gridDim.x * THREADS) {
#pragma unroll
        for (int k = 0; k < AT_ONCE * QUADS; k++) {
            const unsigned group = first + k / QUADS * gridDim.x * THREADS;
            const float4 quad = group < groups ? cube[(size_t)group * QUADS + k % QUADS] : make_float4(0, 0, 0, 0);
            *(float4 *)&samples[k / QUADS][k % QUADS * 4] = quad;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE * PIXELS; k++)
            add_pixel<N>(sums, &samples[k / PIXELS][k % PIXELS * N]);
    }
    if (id < (unsigned)in.width % PIXELS)
        add_pixel<N>(sums, (const float *)cube + (size_t)(groups * PIXELS + id) * N);
#pragma unroll
    for (int k = 0; k < PAIRS; k++)
        shared[k * THREADS + threadIdx.x] = sums[k];
    __syncthreads();
    for (int k = threadIdx.x / 32; k < PAIRS; k += THREADS / 32) {
        int u = 0, v = k;
        double sum = 0;
        for (int other = threadIdx.x % 32; other < THREADS; other += 32)
            sum += shared[k * THREADS + other];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
        for (; v >= N - u; u++)
            v -= N - u;
        if (threadIdx.x % 32 == 0)
            atomicAdd(&totals[u * N + u + v], sum);
    }
    finish_last(in, params, N, out, (double *)shared, totals);
}

static auto few_kernel_for(int bands)
{
    return bands == 1   ? few_kernel<1>
           : bands == 2 ? few_kernel<2>
           : bands == 3 ? few_kernel<3>
           : bands == 4 ? few_kernel<4>
           : bands == 5 ? few_kernel<5>
                        : few_kernel<BANDS>;
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
    CUDA_TRY(cudaFuncSetAttribute(own_kernel_for(in, ceiling_divide(planes, TILE)),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, TOTALS));
    if (planes <= BANDS)
        CUDA_TRY(cudaFuncSetAttribute(few_kernel_for(planes), cudaFuncAttributeMaxDynamicSharedMemorySize, STAGED));
    TRY(device_allocate((void **)&state->totals, (planes * planes + 1) * sizeof *state->totals));
    TRY(device_clear(state->totals, (planes * planes + 1) * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params), sides = ceiling_divide(planes, SIDE);
    const int tiles = ceiling_divide(planes, TILE), warps = tiles <= SQUARE ? +FEW : +WARPS;
    const int all = tiles <= MOST ? 1 : sides * (sides + 1) / 2, run = in->type == PIXEL_F32 ? RUN_REAL : RUN_WHOLE;
    const int chunk = warps * STEP * (tiles <= SQUARE ? SQUARE / tiles : 1);
    const int64_t chunks = ((int64_t)in->width * in->height + chunk - 1) / chunk;
    const int blocks = ceiling_divide(2 * state->multiprocessors, all);
    const int steps = (int)min((chunks + blocks - 1) / blocks, (int64_t)(run / (chunk / warps)));
    const float *const shift = correlation_shift(in, params);
    const struct image cube = flat(in);
    const auto kernel = in->type == PIXEL_F32  ? sum_kernel<PIXEL_F32>
                        : in->type == PIXEL_U8 ? sum_kernel<PIXEL_U8>
                                               : sum_kernel<PIXEL_U16>;
    const dim3 shares((chunks + steps - 1) / steps, all);
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    if (in->type == PIXEL_F32 && planes <= BANDS && !params->center && cube.height == 1) {
        /* More blocks where a thread would add more than 2^9 pixels in f32. */
        const int few = min(max(state->multiprocessors, cube.width >> 19), ceiling_divide(cube.width, THREADS));
        few_kernel_for(planes)<<<few, THREADS, sizeof(float) * THREADS * planes *(planes + 1) / 2, stream>>>(
            cube, state->totals, *params, *out);
        CUDA_TRY(cudaGetLastError());
        return STATUS_OK;
    }
    if (tiles <= MOST) {
        own_kernel_for(in, tiles)<<<shares, 32 * warps, TOTALS, stream>>>(cube, shift, planes, steps, state->totals,
                                                                          *params, *out);
        CUDA_TRY(cudaGetLastError());
        return STATUS_OK;
    }
    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    kernel<<<shares, 32 * WARPS, 0, stream>>>(cube, shift, planes, steps, state->totals);
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

RUNGS_CUDA_VERSION(correlation, .unavailable = unavailable, .staged = true)
