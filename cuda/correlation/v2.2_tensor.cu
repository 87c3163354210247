/*
 * Idea:     the sums are the tensor cores' business. A sample is the sum of two bfloat16 within 2^-17 of it, and three products
 *           of these are the product of two samples within 2^-15, where the contract allows 2^-12; a byte is one bfloat16.
 * Changed:  the kernel. A warp loads 16 pixels of 8 planes where the tensor cores want them, and multiplies 32 by 32 planes
 *           that lie split in shared memory; its sums stay in registers. Tiles below the diagonal are left out.
 * Expect:   31 bands of a million pixels: 18 instructions of 2048 products for 16 pixels, 5 us of the tensor cores and 8 of
 *           others to split samples, so that memory, 30 us, is the limit. 198 bands: 500 instructions for 16 pixels, 250 us.
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.0,cuda/v2.1,cuda/v2.2,peer/cublas */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/steps/operands.cuh"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

enum { WARPS = 16 /* of a block at most */, LOADS = 4 /* of 4 samples, under way at a time */ };
enum {
    ENTRIES = 8 * SQUARE * 8 * SQUARE,
    LARGEST = (2 * CORRELATION_MAX_BANDS / TILE + 1) * 512 /* bytes of a panel */
};
enum { RUN_WHOLE = 256, RUN_REAL = 1024 /* products in an f32 sum: u8 stays exact, f32 within the contract */ };

template <enum pixel_type TYPE>
static __global__ void __launch_bounds__(32 * WARPS, 2)
    sum_kernel(struct image in, struct correlation_params params, const float *shift, double *totals, int squares,
               int steps, int repeats)
{
    extern __shared__ __align__(16) uint4 panel[]; /* [step][tile][lane] */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, parts = warps / squares;
    const int64_t count = (int64_t)in.width * in.height, begin = (int64_t)blockIdx.x * repeats * steps * STEP;
    in.type = TYPE;
    const int planes = correlation_planes(&in, &params), tiles = (planes + TILE - 1) / TILE;
    const int sides = (tiles + SQUARE - 1) / SQUARE;

    /* Square k of the triangle: i sides' rows are full, the rest is the column. */
    int i = 0, j = blockIdx.y * squares + warp % squares;
    for (; i < sides && j >= sides - i; i++)
        j -= sides - i;
    j += i;

    float sums[SQUARE / 2][SQUARE][4] = {};
    for (int repeat = 0; repeat < repeats && begin + (int64_t)repeat * steps * STEP < count; repeat++) {
        const int64_t from = begin + (int64_t)repeat * steps * STEP;
        __syncthreads();
        for (int first = warp; first < steps * tiles; first += LOADS * warps) {
            float samples[LOADS][4];
#pragma unroll
            for (int l = 0; l < LOADS; l++) {
                const int at = min(first + l * warps, steps * tiles - 1);
                load_samples(in, shift, from + at / tiles * STEP + lane % 4 * 4, at % tiles * TILE + lane / 4, planes,
                             samples[l]);
            }
#pragma unroll
            for (int l = 0; l < LOADS; l++)
                if (first + l * warps < steps * tiles)
                    panel[(first + l * warps) * 32 + lane] = split_samples(samples[l]);
        }
        __syncthreads();
        for (int step = warp / squares; step < steps; step += parts)
            multiply_square(sums, panel + step * tiles * 32, i * SQUARE, j * SQUARE, tiles, TYPE != PIXEL_F32);
    }

    /* The parts' sums as they lie in registers; then those of an entry, by a thread. */
    float *const staged = (float *)panel;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ENTRIES / 32; k++)
        staged[warp * ENTRIES + k * 32 + lane] = sums[k / 16][k / 4 % SQUARE][k % 4];
    __syncthreads();
    for (int k = warp / squares; k < ENTRIES / 32; k += parts) {
        const int r = k % 4, u = i * 32 + k / 16 * 16 + r / 2 * 8 + lane / 4;
        const int v = j * 32 + k / 4 % SQUARE * TILE + lane % 4 * 2 + r % 2;
        double sum = 0;
        for (int other = warp % squares; other < warps; other += squares)
            sum += staged[other * ENTRIES + k * 32 + lane];
        if (u <= v && v < planes)
            atomicAdd(&totals[u * planes + v], sum);
    }
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
    int device;

    if (state->totals)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaFuncSetAttribute(sum_kernel<PIXEL_F32>, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGEST));
    CUDA_TRY(cudaFuncSetAttribute(sum_kernel<PIXEL_U8>, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGEST));
    CUDA_TRY(cudaFuncSetAttribute(sum_kernel<PIXEL_U16>, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGEST));
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int planes = correlation_planes(in, params), tiles = ceiling_divide(planes, TILE);
    const int sides = ceiling_divide(tiles, SQUARE), all = sides * (sides + 1) / 2;
    const int squares = ceiling_divide(all, ceiling_divide(all, WARPS)), parts = WARPS / squares,
              warps = parts * squares;
    const int each = max(1, LOADS * squares / tiles), steps = parts * each; /* for each part, and of a panel */
    const int run = in->type == PIXEL_F32 ? RUN_REAL : RUN_WHOLE, blocks = 2 * state->multiprocessors;
    const int64_t panels = ((int64_t)in->width * in->height + steps * STEP - 1) / (steps * STEP);
    const int repeats = (int)min((panels + blocks - 1) / blocks, (int64_t)(run / (each * STEP)));
    const size_t shared = max(steps * tiles * 512, warps * ENTRIES * (int)sizeof(float));
    const auto kernel = in->type == PIXEL_F32  ? sum_kernel<PIXEL_F32>
                        : in->type == PIXEL_U8 ? sum_kernel<PIXEL_U8>
                                               : sum_kernel<PIXEL_U16>;
    const bool one_row = in->stride == image_row_bytes(in);
    const struct image flat = {one_row ? in->width * in->height : in->width,
                               one_row ? 1 : in->height,
                               in->channels,
                               in->type,
                               in->stride,
                               in->data};
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    kernel<<<dim3((panels + repeats - 1) / repeats, ceiling_divide(all, squares)), 32 * warps, shared, stream>>>(
        flat, *params, correlation_shift(in, params), state->totals, squares, steps, repeats);
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
